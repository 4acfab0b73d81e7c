import ArgumentParser
import MoonbaseModel
import MoonbasePlatform

/// The format of rows.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
  /// A table for display.
  case table
  /// An array of objects.
  case json
  /// An object on each line.
  case ndjson
  /// CSV as in RFC 4180, with a line of names.
  case csv
  /// Like `csv`, but with tabs instead of commas.
  case tsv

  /// The character between the fields of a line, if the format has one.
  ///
  /// Only csv and tsv have it.
  var separator: UInt8? {
    switch self {
    case .csv: UInt8(ascii: ",")
    case .tsv: UInt8(ascii: "\t")
    case .table, .json, .ndjson: nil
    }
  }
}

/// The format of dates.
enum DateForm: String, CaseIterable, ExpressibleByArgument {
  /// A text such as `2001-01-01T00:00:00.000Z`.
  case iso
  /// Seconds since 1970.
  case unix
  /// Seconds since 2001, as they are stored.
  case reference
}

/// All settings for the output of rows.
///
/// The options determine it once, before the first row is written.
struct OutputForm {
  /// The format of the rows.
  var format = OutputFormat.table
  /// The format of dates.
  var dates = DateForm.iso
  /// The text for an empty value in formats without a null value: CSV, TSV and tables.
  var null = ""
  /// Whether IDs of objects are written in short form, such as `Person/12`, and not as URIs.
  var hasShortIDs = false
}

/// The options of commands that write rows.
struct RowOptionGroup: ParsableArguments {
  @Option(help: "How rows are written: table (default), json, ndjson, csv or tsv.")
  var format: OutputFormat?

  @Option(
    name: .customLong("null"), parsing: .unconditional,
    help: "What stands for no value in csv, tsv and tables (default: nothing; the empty string is \"\" in csv and tsv)."
  )
  var null: String?

  /// Rejects `--null` for JSON.
  func validate() throws {
    guard null != nil, format == .json || format == .ndjson else { return }
    throw ValidationError("--null is for csv, tsv and tables: JSON has a null of its own")
  }

  /// The settings that the options or the project give.
  ///
  /// - Throws: A `UsageError` if the project's format contradicts `--null`.
  var form: OutputForm {
    get throws(UsageError) {
      let project = format == nil ? try Project.current() : nil
      let format = format ?? project?.format ?? .table
      if null != nil, format == .json || format == .ndjson {
        throw UsageError("--null is for csv, tsv and tables, and the project writes \(format.rawValue): give --format")
      }
      return OutputForm(format: format, null: null ?? "")
    }
  }
}

/// The options of commands that write objects, including the format of dates.
struct ObjectOptionGroup: ParsableArguments {
  @OptionGroup var rows: RowOptionGroup

  @Option(help: "How dates are written: iso (default), unix or reference (seconds since 2001, as stored).")
  var dates: DateForm = .iso

  @Flag(help: "Write IDs of objects as URIs (default: as Person/12, which commands take too).")
  var uri = false

  /// The settings of the rows, of dates and of IDs.
  var form: OutputForm {
    get throws(UsageError) {
      var form = try rows.form
      form.dates = dates
      form.hasShortIDs = !uri
      return form
    }
  }
}

extension OutputForm {
  /// The end of the text for a date at midnight UTC.
  private static let midnight = "T00:00:00.000Z"

  /// A date in a table. If the time is midnight UTC, only the day is shown.
  ///
  /// - Parameter date: The date to write.
  /// - Returns: A text such as `2001-01-01`, or the full text in `dates`' form.
  func textForPeople(of date: Date) -> String {
    let text = dates.text(date)
    guard dates == .iso, text.hasSuffix(Self.midnight) else { return text }
    return String(text.dropLast(Self.midnight.count))
  }
}
