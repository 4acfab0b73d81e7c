import MoonbasePlatform

/// The field of a column in a record: its bytes and its kind. Valid until the next record is read.
///
/// The bytes point into the window of a reader, or into its buffer of unescaped texts. A caller
/// that keeps a field copies the bytes.
struct InputField {
  /// The form in which the input states the value.
  enum Kind: UInt8 {
    /// The record lacks the column.
    case missing
    /// No value.
    case none
    /// A text; in csv a value of any type.
    case text
    /// JSON numbers, booleans, and lists and objects in their text form.
    case number, bool, nested
    /// Bytes of a database.
    case binary
  }

  /// The kind, which determines how `bytes` are understood.
  var kind: Kind
  /// The bytes of the value: a text without its quotes, or the digits of a number.
  var bytes: UnsafeRawBufferPointer

  /// The field of a column that the record does not have.
  static var missing: InputField { InputField(kind: .missing, bytes: UnsafeRawBufferPointer(start: nil, count: 0)) }
  /// The field of a column without a value, as `null` in JSON.
  static var none: InputField { InputField(kind: .none, bytes: UnsafeRawBufferPointer(start: nil, count: 0)) }

  /// The text; nil if it is not UTF-8.
  var text: String? {
    String(
      validUTF8: UnsafeBufferPointer(start: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count))
  }

  /// The text, with invalid UTF-8 replaced.
  var shownText: String { String(decoding: bytes, as: UTF8.self) }
}

/// Reads records in order: the names of the columns and the field of each column.
///
/// ```swift
/// while try reader.next() { for index in reader.names.indices { use(reader.field(index)) } }
/// ```
///
/// `CSVReader`, `JSONReader` and `TableReader` are the implementations. A reader belongs to one
/// `ImportInput` and is used by one thread.
protocol RecordReader: AnyObject {
  /// The columns known so far. JSON adds a column for each new name.
  var names: [String] { get }
  /// The line of the record's beginning, from 1.
  var line: Int64 { get }
  /// The line at which the next record may begin.
  var endLine: Int64 { get }
  /// The range of the record in the input.
  var recordStart: Int64 { get }
  /// The position behind the record, at which a later run may continue with `skip(to:line:)`.
  var recordEnd: Int64 { get }
  /// The bytes of the record.
  var record: UnsafeRawBufferPointer { get }
  /// Reads the next record; returns false at the end. Throws `InputError`; after `.malformed` the reader is positioned
  /// after the unreadable record.
  func next() throws -> Bool
  /// The record's field for a column.
  func field(_ column: Int) -> InputField
  /// Skips the records of an earlier run, to a position with its line.
  func skip(to offset: Int64, line: Int64) throws
}
