import MoonbaseMeter

/// A function over plain values that a store calls for each row, as a program in C would: nothing on the way is counted or allocated. Stores and scripts do
/// not know each other, but both know this.
package struct RowCall {
  /// Gets a context, cells, their number, and the place of the cell that it fills, which holds good until the next call. False where it failed, or gave
  /// what is no plain value.
  package typealias Function =
    @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer, Int32, UnsafeMutableRawPointer) -> Bool

  private let context: UnsafeMutableRawPointer
  private let function: Function
  /// What `context` belongs to.
  private let owner: AnyObject

  /// Makes a call of a function, whose context lives as long as its owner.
  package init(_ function: @escaping Function, context: UnsafeMutableRawPointer, owner: AnyObject) {
    (self.function, self.context, self.owner) = (function, context, owner)
  }

  /// Calls the function. The result holds good until the next call. False where it knows none.
  package func run(_ arguments: UnsafePointer<PlainCell>, count: Int, result: UnsafeMutablePointer<PlainCell>) -> Bool {
    moonbase_function_enter()
    defer { moonbase_function_leave() }
    return function(context, arguments, Int32(truncatingIfNeeded: count), result)
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

/// A plain value, which owns nothing: no value, a truth, a number, or bytes that lie elsewhere. It lies as the values that go into Lua do.
package struct PlainCell {
  /// What it holds.
  package enum Kind: UInt32 {
    case none
    case boolean
    case integer
    case number
    case bytes
  }

  private var word: UInt64 = 0
  private var length = 0
  private var tag = Kind.none.rawValue
  /// Whether bytes stay where they are as long as a call takes.
  private var isBorrowed: UInt32 = 0

  /// No value.
  package init() {}

  package init(boolean: Bool) { (tag, word) = (Kind.boolean.rawValue, boolean ? 1 : 0) }
  package init(integer: Int64) { (tag, word) = (Kind.integer.rawValue, UInt64(bitPattern: integer)) }
  package init(number: Double) { (tag, word) = (Kind.number.rawValue, number.bitPattern) }

  /// Bytes that stay where they are as long as the cell is used.
  package init(bytes: UnsafeRawBufferPointer) {
    tag = Kind.bytes.rawValue
    word = UInt64(UInt(bitPattern: bytes.baseAddress))
    length = bytes.count
    isBorrowed = 1
  }

  package var kind: Kind { Kind(rawValue: tag) ?? .none }
  /// The integer, or 1 of what is true.
  package var integer: Int64 { Int64(bitPattern: word) }
  package var number: Double { Double(bitPattern: word) }
  package var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(word)), count: length)
  }
}
