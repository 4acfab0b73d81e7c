import MoonbasePlatform

/// Rows that were read and wait to be saved, with their fields as in the input, so that a row can be inserted again or
/// rejected.
///
/// A chunk is a value of this type. All fields lie in one array of bytes, which is reused for the
/// chunk after the next.
struct StagedRows {
  /// A row, by the places of its fields.
  struct Row {
    /// The line on which the row begins, from 1.
    let line: Int64
    /// The position and the line of the next record.
    let end: Int64
    /// The line on which the next record begins.
    let endLine: Int64
    /// The fields, as indexes in `spans`.
    let first: Int
    /// The number of fields.
    let count: Int
    /// The reason why it was rejected while reading.
    let fault: RowFault?
  }

  /// The place of a field in `bytes`.
  private struct Span {
    /// The kind of the field.
    let kind: InputField.Kind
    /// The position in `bytes`.
    let start: Int
    /// The number of bytes.
    let count: Int
  }

  /// The rows, in the order of the input.
  private(set) var rows: [Row] = []
  /// The fields of all rows.
  private var spans: [Span] = []
  /// The bytes of all fields.
  private var bytes: [UInt8] = []

  /// Whether there are no rows.
  var isEmpty: Bool { rows.isEmpty }
  /// The bytes of unreadable records.
  private var faultWeight = 0

  /// The bytes of the fields and unreadable records.
  var weight: Int { bytes.count + faultWeight }

  /// Removes all rows, and keeps memory of usual size.
  mutating func removeAll() {
    rows.removeAll(keepingCapacity: true)
    spans.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: bytes.capacity < 32 << 20)
    faultWeight = 0
  }

  /// Adds the current record of a reader.
  mutating func append(_ reader: any RecordReader) {
    let first = spans.count
    for column in reader.names.indices {
      let field = reader.field(column)
      spans.append(Span(kind: field.kind, start: bytes.count, count: field.bytes.count))
      bytes.append(contentsOf: field.bytes)
    }
    append(reader, first: first, fault: nil)
  }

  /// Adds an unreadable record.
  mutating func append(_ reader: any RecordReader, fault: RowFault) {
    append(reader, first: spans.count, fault: fault)
    faultWeight += fault.record?.utf8.count ?? 0
  }

  /// Adds a row of the fields from `first` on.
  private mutating func append(_ reader: any RecordReader, first: Int, fault: RowFault?) {
    rows.append(
      Row(
        line: reader.line, end: reader.recordEnd, endLine: reader.endLine, first: first, count: spans.count - first,
        fault: fault))
  }

  /// Calls `body` with the fields of all rows, which are valid during the call.
  func withFields<Result>(_ body: (Fields) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes { try body(Fields(rows: self, bytes: $0)) }
  }

  /// Access to the fields of rows.
  ///
  /// The fields share the bytes of the rows and must not be kept.
  struct Fields {
    fileprivate let rows: StagedRows
    fileprivate let bytes: UnsafeRawBufferPointer

    /// The field of a column; missing for a column that was added later.
    func field(_ column: Int, of row: Row) -> InputField {
      guard column < row.count else { return .missing }
      let span = rows.spans[row.first + column]
      return InputField(
        kind: span.kind, bytes: UnsafeRawBufferPointer(rebasing: bytes[span.start..<span.start + span.count]))
    }
  }
}

/// The reason why a row is rejected.
///
/// It becomes the columns `_column`, `_value`, `_reason` and `_record` of the reject file.
struct RowFault: Error {
  /// The column, or the property before `ImportColumns.named(_:)` translates it; nil if unknown.
  var column: String?
  /// The value as a text, shortened.
  var value: String?
  /// The reason in words.
  var reason: String
  /// The whole record, if its fields are unknown.
  var record: String?

  /// The estimated bytes of the fault.
  var weight: Int {
    96 + reason.utf8.count + (column?.utf8.count ?? 0) + (value?.utf8.count ?? 0) + (record?.utf8.count ?? 0)
  }
}
