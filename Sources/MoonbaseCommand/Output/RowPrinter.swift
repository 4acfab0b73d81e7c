import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Writes rows as they arrive. Only the first rows of a table are kept in memory, to compute the widths of its columns.
///
/// ```swift
/// let writer = try RowPrinter(form, columns: ["name", "age"])
/// try writer.write(["Ann", 32])
/// try writer.finish()
/// ```
///
/// All commands that print rows use it, so that they share the formats and the treatment of special
/// values. `finish` must be called once after the last row. A value that the format cannot
/// represent is recorded in `losses`.
final class RowPrinter {
  /// The number of bytes after which the buffer is written.
  private static let greatestBuffer = 1 << 16

  /// The format, the dates and the text for null.
  private let form: OutputForm
  /// The names of the columns.
  private let columns: [String]
  /// Whether each column has single precision. Empty if no column has it.
  private let floats: [Bool]
  /// Which columns use the default transformer.
  private let transformables: [Bool]
  /// Standard output or a file.
  private let destination: OutputDestination
  /// Whether a column of a table contains values of all kinds, so that numbers are not right-aligned.
  private let isMixed: Bool
  /// The names of the columns as JSON keys with the colon.
  private let keys: [[UInt8]]
  /// The output that has not been written yet.
  private var bytes: [UInt8] = []
  /// Writes IDs of objects.
  private var uris: ObjectURIs
  /// The number of rows so far.
  private var count = 0
  /// The layout of a table.
  private var table: TableLines
  /// The values that could not be written exactly.
  private(set) var losses = OutputLosses()

  /// Creates a printer, and writes the line of names for csv and tsv.
  ///
  /// - Parameters:
  ///   - form: The format.
  ///   - columns: The names of the columns.
  ///   - floats: For each column, whether it has single precision.
  ///   - transformables: For each column, whether it uses the default transformer.
  ///   - destination: Standard output or a file.
  ///   - room: The width of a table, or nil for the width of the terminal.
  ///   - isMixed: Whether columns contain values of all kinds.
  init(
    _ form: OutputForm, columns: [String], floats: [Bool] = [], transformables: [Bool] = [],
    to destination: OutputDestination = .standardOutput, room: Int? = nil, isMixed: Bool = false
  ) {
    self.isMixed = isMixed
    (self.form, self.columns, self.destination) = (form, columns, destination)
    uris = ObjectURIs(areShort: form.hasShortIDs)
    self.transformables = transformables.contains(true) ? transformables : []
    self.floats = floats.contains(true) ? floats : []
    keys = columns.map { name in
      var key: [UInt8] = []
      key.append(quoted: name)
      key.append(contentsOf: ": ".utf8)
      return key
    }
    table = TableLines(columns: columns, room: room)
    if form.format.separator != nil { writeHeader() }
  }

  /// Writes a row. It must have as many values as there are columns. An error names the object of the row.
  ///
  /// - Parameters:
  ///   - values: The values, as many as there are columns.
  ///   - id: The object, for errors.
  /// - Throws: `.invalidValue` for a text that the format cannot contain, and the errors of the
  ///   destination.
  func write(_ values: [Value], of id: ManagedObjectID? = nil) throws {
    let areIDs = values.map(\.isID)
    var values = floats.isEmpty ? values : zip(values, floats).map { $1 ? $0.inFewestDigits : $0 }
    if form.hasShortIDs { values = values.map(\.withShortIDs) }
    for (index, isTransformable) in transformables.enumerated() where isTransformable {
      losses.noteTexts(in: values[index], column: columns[index], isJSON: form.format.separator == nil)
    }
    switch form.format {
    case .table:
      table.add(
        values.map(cell), isNumber: values.map { !isMixed && $0.isNumber },
        isID: isMixed ? areIDs.map { _ in false } : areIDs,
        to: &bytes)
    case .json:
      bytes.append(contentsOf: count == 0 ? "[\n".utf8 : ",\n".utf8)
      writeObject(values)
    case .ndjson:
      writeObject(values)
      bytes.append(UInt8(ascii: "\n"))
    case .csv, .tsv: try writeRecord(values, of: id)
    }
    try endRow()
  }

  /// Counts the row, and writes the buffer if it is large.
  private func endRow() throws {
    count += 1
    if bytes.count >= Self.greatestBuffer { try flush() }
  }

  /// Writes a row from its cells. `slots` contains a slot for each column, with nil for the URI. `value` returns the
  /// value of a column whose stored form is not the output form.
  ///
  /// - Parameters:
  ///   - row: The stored values of an object.
  ///   - slots: The slot of each column.
  ///   - value: Returns the value of a column.
  func write(_ row: Snapshot, slots: [Slot?], value: (Int) -> Value) throws {
    guard form.format == .json || form.format == .ndjson else { return try write(slots.indices.map(value), of: row.id) }
    if form.format == .json { bytes.append(contentsOf: count == 0 ? "[\n".utf8 : ",\n".utf8) }
    bytes.append(UInt8(ascii: "{"))
    for index in slots.indices {
      if index > 0 { bytes.append(contentsOf: Self.comma) }
      bytes.append(contentsOf: keys[index])
      if !floats.isEmpty, floats[index] {
        bytes.append(json: value(index).inFewestDigits, dates: form.dates, column: columns[index], losses: &losses)
      } else if !Self.write(row, slots[index], to: &bytes, &uris, form.dates) {
        let value = form.hasShortIDs ? value(index).withShortIDs : value(index)
        bytes.append(json: value, dates: form.dates, column: columns[index], losses: &losses)
      }
    }
    bytes.append(UInt8(ascii: "}"))
    if form.format == .ndjson { bytes.append(UInt8(ascii: "\n")) }
    try endRow()
  }

  /// Returns false, and writes nothing, if the value is not a plain cell.
  ///
  /// - Parameters:
  ///   - row: The stored values of an object.
  ///   - slot: The slot of the column, or nil for the URI.
  ///   - bytes: The output.
  ///   - uris: Writes the URI.
  ///   - dates: The format of dates.
  private static func write(
    _ row: Snapshot, _ slot: Slot?, to bytes: inout [UInt8], _ uris: inout ObjectURIs, _ dates: DateForm
  ) -> Bool {
    guard let slot else {
      uris.append(row.id, to: &bytes)
      return true
    }
    switch row.cell(slot) {
    case .null: bytes.append(contentsOf: null)
    case .bool(let flag): bytes.append(contentsOf: flag ? "true".utf8 : "false".utf8)
    case .int(let number): bytes.append(decimal: number)
    case .double(let number) where number.isFinite: bytes.append(contentsOf: number.description.utf8)
    case .date(let seconds) where dates == .iso: bytes.append(isoDate: seconds)
    case .text(let text) where text.isUTF8: bytes.append(quotedUTF8: text)
    case .reference(let id): uris.append(id, to: &bytes)
    default: return false
    }
    return true
  }

  /// The text between two members.
  private static let comma = Array(", ".utf8)
  /// The JSON text for null.
  private static let null = Array("null".utf8)

  /// Writes the remaining output. It must be called once at the end. The file then appears under its name.
  func finish() throws {
    switch form.format {
    case .table: table.finish(&bytes)
    case .json: bytes.append(contentsOf: count == 0 ? "[]\n".utf8 : "\n]\n".utf8)
    case .ndjson, .csv, .tsv: break
    }
    try flush()
    try destination.finish()
  }

  /// Writes the buffer to the destination.
  private func flush() throws {
    try bytes.withUnsafeBytes { try destination.write($0) }
    bytes.removeAll(keepingCapacity: true)
  }

  // MARK: Forms

  /// Appends a row as a JSON object on one line.
  private func writeObject(_ values: [Value]) {
    bytes.append(UInt8(ascii: "{"))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(contentsOf: ", ".utf8) }
      bytes.append(contentsOf: keys[index])
      bytes.append(json: value, dates: form.dates, column: columns[index], losses: &losses)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// The separator of csv or tsv.
  private var separator: UInt8 { form.format.separator ?? UInt8(ascii: ",") }

  /// Appends the line of names.
  private func writeHeader() {
    for (index, name) in columns.enumerated() {
      if index > 0 { bytes.append(separator) }
      bytes.append(field: name, separator: separator, isQuoted: name.isEmpty)
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Appends a row of csv or tsv.
  ///
  /// - Throws: `.invalidValue` for a text with a NUL byte.
  private func writeRecord(_ values: [Value], of id: ManagedObjectID?) throws {
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(separator) }
      if value.isNull {
        bytes.append(contentsOf: form.null.utf8)
      } else {
        let text = text(
          value, isTransformable: !transformables.isEmpty && transformables[index], column: columns[index])
        guard !text.utf8.contains(0) else { throw Self.unwritable(columns[index], of: id) }
        // Quote a text that looks like an empty value, so that it is read as a text.
        bytes.append(field: text, separator: separator, isQuoted: text.isEmpty || text == form.null)
      }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  /// The error for a NUL byte in a CSV file. With it, the file is not a text file, so other programs and an import
  /// would reject it.
  private static func unwritable(_ column: String, of id: ManagedObjectID?) -> GraphError {
    let place = id.map { "\($0.entityName).\(column) of \($0)" } ?? "column \(column)"
    return GraphError(
      .invalidValue,
      message: "\(place): its text has a NUL byte, which csv and tsv cannot hold: write --format json or ndjson",
      entity: id?.entityName, property: column, objectID: id)
  }

  /// A value in a table. If the time of a date is midnight UTC, only the day is shown.
  private func cell(_ value: Value) -> String {
    if value.isNull { return form.null }
    if case .date(let date) = value { return form.textForPeople(of: date) }
    return text(value, column: nil)
  }

  /// A value as a text. A text that looks like a list, an object or a quoted text is quoted.
  private func text(_ value: Value, isTransformable: Bool, column: String) -> String {
    guard isTransformable, case .string(let text) = value, JSONText.value(text) != nil else {
      return self.text(value, column: column)
    }
    var json: [UInt8] = []
    json.append(quoted: text)
    return String(decoding: json, as: UTF8.self)
  }

  /// A value as a text. Lists and maps are written as JSON.
  private func text(_ value: Value, column: String?) -> String {
    switch value {
    case .date(let date): return form.dates.text(date)
    case .list, .map:
      var json: [UInt8] = []
      json.append(json: value, dates: form.dates, column: column ?? "", losses: &losses)
      return String(decoding: json, as: UTF8.self)
    case .object(let object):
      losses.note(object, in: column ?? "")
      return value.description
    default: return value.description
    }
  }
}

extension Value {
  /// A number of single precision as the double with the fewest digits that gives the same float. For example, 0.1 and
  /// not 0.10000000149011612.
  var inFewestDigits: Value {
    guard case .double(let number) = self, number.isFinite else { return self }
    return Double(Float(number).description).map(Value.double) ?? self
  }

  /// Whether the value is the ID of an object.
  fileprivate var isID: Bool { if case .objectID = self { true } else { false } }

  /// Whether the value is right-aligned in a table.
  fileprivate var isNumber: Bool {
    switch self {
    case .int, .double, .decimal: true
    default: false
    }
  }
}

extension DateForm {
  /// The date as a text, or as a number for formats other than ISO 8601.
  func text(_ date: Date) -> String {
    switch self {
    case .iso: ISODate.text(date)
    case .unix: date.timeIntervalSince1970.description
    case .reference: date.timeIntervalSinceReferenceDate.description
    }
  }
}
