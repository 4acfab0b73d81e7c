import MoonbasePlatform

/// What a record says of one column: where it lies, and in what form. It is valid until the next record is read.
struct InputField {
  enum Kind: UInt8 {
    /// The record does not say anything of the column.
    case missing
    /// No value.
    case none
    /// A text, or in csv anything.
    case text
    /// JSON's numbers, truth values, and lists and objects as they stand there.
    case number, bool, nested
    /// Bytes, of a database.
    case binary
  }

  var kind: Kind
  var bytes: UnsafeRawBufferPointer

  static var missing: InputField { InputField(kind: .missing, bytes: UnsafeRawBufferPointer(start: nil, count: 0)) }
  static var none: InputField { InputField(kind: .none, bytes: UnsafeRawBufferPointer(start: nil, count: 0)) }

  /// The text, as far as it is UTF-8.
  var text: String? {
    String(
      validUTF8: UnsafeBufferPointer(start: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count))
  }

  /// The text, whatever the bytes are.
  var shownText: String { String(decoding: bytes, as: UTF8.self) }
}

/// Reads one record after the other: the names of its columns, and what the record says of each.
///
/// ```swift
/// while try reader.next() { for index in reader.names.indices { use(reader.field(index)) } }
/// ```
protocol RecordReader: AnyObject {
  /// The columns that are known so far. JSON has a new one with each new name.
  var names: [String] { get }
  /// The line in which the record begins, from 1.
  var line: Int64 { get }
  /// The line in which the next record may begin.
  var endLine: Int64 { get }
  /// Where the record begins and ends in the input.
  var recordStart: Int64 { get }
  var recordEnd: Int64 { get }
  /// The record as it stands in the input.
  var record: UnsafeRawBufferPointer { get }
  /// Reads the next record; false at the end. Throws `InputError`; after `.malformed` it stands behind what it could not understand.
  func next() throws -> Bool
  /// What the record says of a column.
  func field(_ column: Int) -> InputField
  /// Goes on behind records that were read in an earlier run: the place in the input, and how many lines are before it.
  func skip(to offset: Int64, line: Int64) throws
}
