import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// The result of a function for a row, in the form of its column, until SQL reads it.
///
/// The bytes of all results share one buffer, so that a row needs no allocation.
///
/// Owned by a `BatchFunction`. A value is stored in the form in which SQLite would store it, so that it can be compared
/// with the column.
struct BatchResultCell: ~Copyable {
  /// The storage class, with the number.
  private enum Kind {
    case null
    case integer(Int64)
    case real(Double)
    case text
    case blob
  }

  /// Whether there is a result, and of which class.
  private var kind = Kind.null
  /// The bytes of a text or blob.
  private var bytes: ContiguousArray<UInt8> = []

  /// Replaces the result. Returns false for a value that is too large for a row, or has no form in a column.
  mutating func set(_ cell: Snapshot.Cell) -> Bool {
    switch cell {
    case .null: kind = .null
    case .bool(let flag): kind = .integer(flag ? 1 : 0)
    case .int(let number): kind = .integer(number)
    case .double(let number), .date(let number): kind = .real(number)
    case .text(let text): return copy(.text, text)
    case .data(let data): return copy(.blob, data)
    case .uuid(let uuid): return withUnsafeBytes(of: uuid.uuid) { copy(.blob, $0) }
    case .reference: return false
    case .value(let value): return set(value)
    }
    return true
  }

  /// The result from a value; the types with a form of their own in columns are excluded.
  private mutating func set(_ value: Value) -> Bool {
    switch value {
    case .null: set(Snapshot.Cell.null)
    case .bool(let flag): set(Snapshot.Cell.bool(flag))
    case .int(let number): set(Snapshot.Cell.int(number))
    case .double(let number): set(Snapshot.Cell.double(number))
    case .date(let date): set(Snapshot.Cell.date(date.timeIntervalSinceReferenceDate))
    case .uuid(let uuid): set(Snapshot.Cell.uuid(uuid))
    case .string(var text): text.withUTF8 { copy(.text, UnsafeRawBufferPointer($0)) }
    case .uri(let uri): set(Value.string(uri.absoluteString))
    case .data(let data): data.withUnsafeBytes { copy(.blob, $0) }
    case .decimal, .objectID, .list, .map, .object: false
    }
  }

  /// Copies bytes into the buffer. Returns false beyond `LargeValue.greatest`.
  private mutating func copy(_ kind: Kind, _ source: UnsafeRawBufferPointer) -> Bool {
    guard source.count <= LargeValue.greatest else { return false }
    self.kind = kind
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: source)
    return true
  }

  /// Whether an argument of a call differs from the result. Compares storage classes and values as SQLite stores them.
  func differs(from call: borrowing FunctionCall, at index: Int) -> Bool {
    switch (kind, call.storage(index)) {
    case (.null, let storage): storage != .null
    case (.integer(let number), .integer): call.integer(index) != number
    // SQLite keeps a whole number as an integer in a column of either type.
    case (.integer(let number), .real): Int64(exactly: call.double(index)) != number
    case (.real(let number), .integer): Int64(exactly: number) != call.integer(index)
    case (.real(let number), .real): call.double(index) != number
    case (.text, .text): !call.keptText(index).elementsEqual(bytes)
    case (.blob, .blob): !call.keptBytes(index).elementsEqual(bytes)
    default: true
    }
  }

  /// Returns the result from an SQL function.
  func set(on call: borrowing FunctionCall) {
    switch kind {
    case .null: call.setNull()
    case .integer(let number): call.set(number)
    case .real(let number): call.set(number)
    case .text: bytes.withUnsafeBytes { call.set(text: $0) }
    case .blob: bytes.withUnsafeBytes { call.set(bytes: $0) }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Compares by `memcmp`.
  fileprivate func elementsEqual(_ other: ContiguousArray<UInt8>) -> Bool {
    guard count == other.count, let start = baseAddress else { return count == other.count }
    return other.withUnsafeBytes { $0.baseAddress.map { memcmp(start, $0, count) == 0 } ?? true }
  }
}
