public import MoonbaseModel
public import MoonbasePlatform

// Inlinable, because objects and typed accessors read and write through it (see docs/development.md).

/// The content of a slot as two words and a kind, so that it passes in registers without making a `Value`.
///
/// Attribute types decode their values from it (`AttributeValue.read(cell:)`).
public struct RawCell {
  /// The meaning of the words. Except for `other`, the numbers are the kinds of cells in rows.
  public enum Kind: UInt8 {
    /// Null, or a value that could not be read.
    case null
    /// `bool`.
    case bool
    /// `int`.
    case int
    /// `double`.
    case double
    /// `double`, in seconds since the beginning of 2001.
    case date
    /// `bytes`: UTF-8.
    case text
    /// `bytes`.
    case data
    /// Any other value: use the slot's `Value`.
    case other
  }

  /// The kind of the content.
  public let kind: Kind
  @usableFromInline package let word: UInt64
  @usableFromInline package let length: Int

  /// Makes a cell of a word and a length.
  @inlinable
  package init(_ kind: Kind, word: UInt64 = 0, length: Int = 0) {
    (self.kind, self.word, self.length) = (kind, word, length)
  }

  @inlinable
  package init(_ kind: Kind, bytes: UnsafeRawBufferPointer) {
    self.init(kind, word: UInt64(UInt(bitPattern: bytes.baseAddress)), length: bytes.count)
  }

  /// The cell of a number, date, truth value or null.
  @inlinable
  package init(of value: Value) {
    switch value {
    case .null: self.init(Kind.null)
    case .bool(let flag): self.init(Kind.bool, word: flag ? 1 : 0)
    case .int(let number): self.init(Kind.int, word: UInt64(bitPattern: number))
    case .double(let number): self.init(Kind.double, word: number.bitPattern)
    case .date(let date): self.init(Kind.date, word: date.timeIntervalSinceReferenceDate.bitPattern)
    default: self.init(Kind.other)
    }
  }

  /// Whether an attribute of the type can store the content unchanged.
  @inlinable
  package func fits(_ type: AttributeType) -> Bool {
    switch (type, kind) {
    case (_, .null), (.string, .text), (.integer64, .int), (.boolean, .bool), (.binaryData, .data): true
    case (.integer32, .int): Int32(exactly: int) != nil
    case (.integer16, .int): Int16(exactly: int) != nil
    case (.double, .double): !double.isNaN
    case (.date, .date): double.isFinite
    default: false
    }
  }

  /// The kind that an attribute of the type stores unchanged, whatever the value (except not-a-number); nil for other
  /// types.
  @inlinable
  package static func kind(takenBy type: AttributeType) -> Kind? {
    switch type {
    case .string: .text
    case .integer64: .int
    case .boolean: .bool
    case .binaryData: .data
    case .double: .double
    case .date: .date
    default: nil
    }
  }

  /// Whether both cells have the same content, so that replacing one by the other changes nothing.
  @inlinable
  package func isSame(as other: RawCell) -> Bool {
    guard kind == other.kind else { return false }
    switch kind {
    case .null: return true
    case .bool, .int: return word == other.word
    case .double, .date: return double == other.double
    case .text, .data:
      guard length == other.length, length > 0 else { return length == other.length }
      guard let one = bytes.baseAddress, let two = other.bytes.baseAddress else { return false }
      return memcmp(one, two, length) == 0
    case .other: return false
    }
  }

  /// A truth value.
  @inlinable public var bool: Bool { word != 0 }
  /// An integer.
  @inlinable public var int: Int64 { Int64(bitPattern: word) }
  /// A number, or a date's seconds since the beginning of 2001.
  @inlinable public var double: Double { Double(bitPattern: word) }
  /// The bytes of text or data: part of the row, valid as long as the object keeps its row.
  @inlinable public var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(word)), count: length)
  }
}
