/// A function over plain values that a store calls for each row, as a program in C would: nothing on the way is
/// counted or allocated. Stores and scripts do not know each other, but both know this. Functions that are called
/// for each row are public: the compiler inlines no others into other modules.
public struct RowCall {
  /// Gets a context, cells, their number, and the places of the word and the length of the cell that it gives, which
  /// holds good until the next call. Gives the cell's tag, or a negative number where it failed or gave what is no
  /// plain value. Each place is written and read as a whole: a processor waits for what is read otherwise than it was
  /// written.
  public typealias Function =
    @convention(c) (
      UnsafeMutableRawPointer, UnsafeRawPointer, Int32, UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<Int>
    ) -> Int32

  /// The call without its owner, so that no reference is counted for a row.
  public struct Uncounted {
    @usableFromInline let context: UnsafeMutableRawPointer
    @usableFromInline let function: Function

    /// Calls the function. The result holds good until the next call. Nil where it knows none.
    @inlinable
    public func run(_ arguments: UnsafePointer<PlainCell>, count: Int) -> PlainCell? {
      var (word, length): (UInt64, Int) = (0, 0)
      let tag = function(context, arguments, Int32(truncatingIfNeeded: count), &word, &length)
      return tag < 0 ? nil : PlainCell(tag: UInt32(tag), word: word, length: length)
    }
  }

  /// It holds good as long as the call is kept.
  public let uncounted: Uncounted
  /// The owner of the function's context.
  private let owner: AnyObject

  /// Makes a call of a function, whose context lives as long as its owner.
  public init(_ function: @escaping Function, context: UnsafeMutableRawPointer, owner: AnyObject) {
    uncounted = Uncounted(context: context, function: function)
    self.owner = owner
  }

  /// Calls the function. The result holds good until the next call. Nil where it knows none.
  public func run(_ arguments: UnsafePointer<PlainCell>, count: Int) -> PlainCell? {
    uncounted.run(arguments, count: count)
  }
}

/// A scope that calls of functions share within one step of a statement. It begins with the first of the calls. It
/// ends with the step, or before the call of a function that has another scope.
package protocol CallScope: AnyObject {
  /// Begins.
  func begin()
  /// Ends, on the same thread.
  func end()
}

/// A plain value, which owns nothing: no value, a truth, a number, or bytes that lie elsewhere. Its layout is that of
/// the values that go into Lua.
public struct PlainCell {
  /// The kinds of plain values.
  public enum Kind: UInt32 {
    case none
    case boolean
    case integer
    case number
    case bytes
  }

  @usableFromInline var word: UInt64 = 0
  @usableFromInline var length = 0
  @usableFromInline var tag = Kind.none.rawValue
  /// Whether bytes stay where they are as long as a call takes.
  @usableFromInline var isBorrowed: UInt32 = 0

  /// No value.
  @inlinable
  public init() {}

  @inlinable
  init(tag: UInt32, word: UInt64, length: Int) {
    (self.tag, self.word, self.length) = (tag, word, length)
    isBorrowed = tag == Kind.bytes.rawValue ? 1 : 0
  }

  @inlinable
  public init(boolean: Bool) { (tag, word) = (Kind.boolean.rawValue, boolean ? 1 : 0) }
  @inlinable
  public init(integer: Int64) { (tag, word) = (Kind.integer.rawValue, UInt64(bitPattern: integer)) }
  @inlinable
  public init(number: Double) { (tag, word) = (Kind.number.rawValue, number.bitPattern) }

  /// Bytes that stay where they are as long as the cell is used.
  @inlinable
  public init(bytes: UnsafeRawBufferPointer) {
    tag = Kind.bytes.rawValue
    word = UInt64(UInt(bitPattern: bytes.baseAddress))
    length = bytes.count
    isBorrowed = 1
  }

  @inlinable
  public var kind: Kind { Kind(rawValue: tag) ?? .none }
  /// Whether it holds an integer: `kind`, asked for each row.
  @inlinable
  public var isInteger: Bool { tag == Kind.integer.rawValue }

  /// The integer, or 1 of what is true.
  @inlinable
  public var integer: Int64 { Int64(bitPattern: word) }
  @inlinable
  public var number: Double { Double(bitPattern: word) }
  @inlinable
  public var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(word)), count: length)
  }
}
