import ArgumentParser
import MoonbaseModel
import MoonbasePlatform

/// How rows are written.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
  /// For a person.
  case table
  /// One array of objects.
  case json
  /// An object a line.
  case ndjson
  /// As RFC 4180 has it, with a line of names.
  case csv
  /// The same with tabs in the place of commas.
  case tsv

  /// What stands between the fields of a line, where there are such.
  var separator: UInt8? {
    switch self {
    case .csv: UInt8(ascii: ",")
    case .tsv: UInt8(ascii: "\t")
    case .table, .json, .ndjson: nil
    }
  }
}

/// How dates are written.
enum DateForm: String, CaseIterable, ExpressibleByArgument {
  /// `2001-01-01T00:00:00.000Z`.
  case iso
  /// Seconds since 1970.
  case unix
  /// Seconds since 2001, as they are stored.
  case reference
}

/// The form in which rows are written, all of it.
struct OutputForm {
  var format = OutputFormat.table
  var dates = DateForm.iso
  /// What stands for no value where nothing does not say so: in csv, tsv and tables.
  var null = ""
  /// Whether IDs of objects are written as `Person/12`, and not as URIs.
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

  func validate() throws {
    guard null != nil, format == .json || format == .ndjson else { return }
    throw ValidationError("--null is for csv, tsv and tables: JSON has a null of its own")
  }

  /// The form that the options say, or the project.
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

/// The options of commands that write objects, which may have dates.
struct ObjectOptionGroup: ParsableArguments {
  @OptionGroup var rows: RowOptionGroup

  @Option(help: "How dates are written: iso (default), unix or reference (seconds since 2001, as stored).")
  var dates: DateForm = .iso

  @Flag(help: "Write IDs of objects as URIs (default: as Person/12, which commands take too).")
  var uri = false

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
  private static let midnight = "T00:00:00.000Z"

  /// A date in a table. At midnight UTC it is a day.
  func textForPeople(of date: Date) -> String {
    let text = dates.text(date)
    guard dates == .iso, text.hasSuffix(Self.midnight) else { return text }
    return String(text.dropLast(Self.midnight.count))
  }
}
