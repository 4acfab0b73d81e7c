/// A function over plain values that a store calls for each row without reference counting and allocations, as in C. It
/// connects stores and scripts, which do not know each other. Functions called for each row are public, because the
/// compiler inlines no others into other modules.
public struct RowCall {
  /// Takes a context, cells with their count, and pointers for the word and the length of the result, which is valid
  /// until the next call. Returns the result's tag, or a negative number for a failure or a result that is not plain.
  /// Each pointer is written and read at its full width, to avoid store forwarding stalls.
  public typealias Function =
    @convention(c) (
      UnsafeMutableRawPointer, UnsafeRawPointer, Int32, UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<Int>
    ) -> Int32

  /// The call without its owner, to avoid reference counting for each row.
  public struct Uncounted {
    @usableFromInline let context: UnsafeMutableRawPointer
    @usableFromInline let function: Function

    /// Calls the function. The result is valid until the next call; nil for a failure.
    @inlinable
    public func run(_ arguments: UnsafePointer<PlainCell>, count: Int) -> PlainCell? {
      var (word, length): (UInt64, Int) = (0, 0)
      let tag = function(context, arguments, Int32(truncatingIfNeeded: count), &word, &length)
      return tag < 0 ? nil : PlainCell(tag: UInt32(tag), word: word, length: length)
    }
  }

  /// Valid as long as the call is retained.
  public let uncounted: Uncounted
  /// Retains the function's context.
  private let owner: AnyObject

  /// A call of a function whose context lives as long as `owner`.
  public init(_ function: @escaping Function, context: UnsafeMutableRawPointer, owner: AnyObject) {
    uncounted = Uncounted(context: context, function: function)
    self.owner = owner
  }

  /// Calls the function. The result is valid until the next call; nil for a failure.
  public func run(_ arguments: UnsafePointer<PlainCell>, count: Int) -> PlainCell? {
    uncounted.run(arguments, count: count)
  }
}

/// A scope shared by the calls of functions within a step of a statement. It begins with the first call, and ends with
/// the step, or before the call of a function with another scope.
package protocol CallScope: AnyObject {
  /// Begins the scope.
  func begin()
  /// Ends the scope, on the same thread.
  func end()
}

/// A plain value that owns nothing: null, a boolean, a number, or bytes stored elsewhere. Has the layout of values
/// passed to Lua.
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
  /// Whether the bytes stay valid during a call.
  @usableFromInline var isBorrowed: UInt32 = 0

  /// Null.
  @inlinable
  public init() {}

  @inlinable
  init(tag: UInt32, word: UInt64, length: Int) {
    (self.tag, self.word, self.length) = (tag, word, length)
    isBorrowed = tag == Kind.bytes.rawValue ? 1 : 0
  }

  /// A boolean.
  @inlinable
  public init(boolean: Bool) { (tag, word) = (Kind.boolean.rawValue, boolean ? 1 : 0) }
  /// An integer.
  @inlinable
  public init(integer: Int64) { (tag, word) = (Kind.integer.rawValue, UInt64(bitPattern: integer)) }
  /// A floating-point number.
  @inlinable
  public init(number: Double) { (tag, word) = (Kind.number.rawValue, number.bitPattern) }

  /// Bytes, which must stay valid while the cell is used.
  @inlinable
  public init(bytes: UnsafeRawBufferPointer) {
    tag = Kind.bytes.rawValue
    word = UInt64(UInt(bitPattern: bytes.baseAddress))
    length = bytes.count
    isBorrowed = 1
  }

  /// The kind.
  @inlinable
  public var kind: Kind { Kind(rawValue: tag) ?? .none }
  /// Whether the cell holds an integer: a faster form of `kind` for each row.
  @inlinable
  public var isInteger: Bool { tag == Kind.integer.rawValue }

  /// The integer, or 1 for true.
  @inlinable
  public var integer: Int64 { Int64(bitPattern: word) }
  /// The number.
  @inlinable
  public var number: Double { Double(bitPattern: word) }
  /// The bytes.
  @inlinable
  public var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(word)), count: length)
  }
}
