import MoonbaseModel

/// What a slot holds as two words and a kind, so that it passes in registers to who needs no `Value` of it.
package struct RawCell {
  package enum Kind {
    case null, bool, int, double
    /// UTF-8, which may be invalid.
    case text
    case data
    /// Anything else: to be asked for as a value.
    case other
  }

  package let kind: Kind
  private let word: UInt64
  private let length: Int

  init(_ kind: Kind, word: UInt64 = 0, length: Int = 0) { (self.kind, self.word, self.length) = (kind, word, length) }

  init(_ kind: Kind, bytes: UnsafeRawBufferPointer) {
    self.init(kind, word: UInt64(UInt(bitPattern: bytes.baseAddress)), length: bytes.count)
  }

  /// What a number, a truth value or null is in a cell.
  init(of value: Value) {
    switch value {
    case .null: self.init(Kind.null)
    case .bool(let flag): self.init(Kind.bool, word: flag ? 1 : 0)
    case .int(let number): self.init(Kind.int, word: UInt64(bitPattern: number))
    case .double(let number): self.init(Kind.double, word: number.bitPattern)
    default: self.init(Kind.other)
    }
  }

  package var bool: Bool { word != 0 }
  package var int: Int64 { Int64(bitPattern: word) }
  package var double: Double { Double(bitPattern: word) }
  /// The bytes of text or data: the row's own, valid as long as the object keeps its row.
  package var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(word)), count: length)
  }
}
