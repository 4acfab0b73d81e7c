import MoonbasePlatform

/// Rows that were read and wait to be saved: their fields as they stand in the input, so that a row can be inserted once more, or rejected.
struct StagedRows {
  struct Row {
    let line: Int64
    /// Where the next record begins, and in which line.
    let end: Int64
    let endLine: Int64
    /// Its fields, in `spans`.
    let first: Int
    let count: Int
    /// Why it was rejected when it was read.
    let fault: RowFault?
  }

  private struct Span {
    let kind: InputField.Kind
    let start: Int
    let count: Int
  }

  private(set) var rows: [Row] = []
  private var spans: [Span] = []
  private var bytes: [UInt8] = []

  var isEmpty: Bool { rows.isEmpty }
  /// The bytes of records that cannot be understood.
  private var faultWeight = 0

  /// How many bytes the fields have, and records that cannot be understood.
  var weight: Int { bytes.count + faultWeight }

  mutating func removeAll() {
    rows.removeAll(keepingCapacity: true)
    spans.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: bytes.capacity < 32 << 20)
    faultWeight = 0
  }

  /// Takes the record in that a reader stands at.
  mutating func append(_ reader: any RecordReader) {
    let first = spans.count
    for column in reader.names.indices {
      let field = reader.field(column)
      spans.append(Span(kind: field.kind, start: bytes.count, count: field.bytes.count))
      bytes.append(contentsOf: field.bytes)
    }
    append(reader, first: first, fault: nil)
  }

  /// Takes in a record that cannot be understood.
  mutating func append(_ reader: any RecordReader, fault: RowFault) {
    append(reader, first: spans.count, fault: fault)
    faultWeight += fault.record?.utf8.count ?? 0
  }

  private mutating func append(_ reader: any RecordReader, first: Int, fault: RowFault?) {
    rows.append(
      Row(
        line: reader.line, end: reader.recordEnd, endLine: reader.endLine, first: first, count: spans.count - first,
        fault: fault))
  }

  /// The fields of all rows, as long as `body` runs.
  func withFields<Result>(_ body: (Fields) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes { try body(Fields(rows: self, bytes: $0)) }
  }

  /// The fields of rows, where they lie.
  struct Fields {
    fileprivate let rows: StagedRows
    fileprivate let bytes: UnsafeRawBufferPointer

    /// What a row says of a column; nothing of one that came later.
    func field(_ column: Int, of row: Row) -> InputField {
      guard column < row.count else { return .missing }
      let span = rows.spans[row.first + column]
      return InputField(
        kind: span.kind, bytes: UnsafeRawBufferPointer(rebasing: bytes[span.start..<span.start + span.count]))
    }
  }
}

/// Why a row is not taken.
struct RowFault: Error {
  var column: String?
  var value: String?
  var reason: String
  /// The record as it stands, where its fields are not known.
  var record: String?

  /// The bytes that are kept of it, by estimate.
  var weight: Int {
    96 + reason.utf8.count + (column?.utf8.count ?? 0) + (value?.utf8.count ?? 0) + (record?.utf8.count ?? 0)
  }
}
