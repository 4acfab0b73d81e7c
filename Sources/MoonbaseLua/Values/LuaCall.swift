import MoonbaseLuaShim
import MoonbasePlatform

/// One call from Lua into Swift: gives its arguments, counted from 0, and takes its results, in the order they are returned.
///
/// ```swift
/// try state.setGlobal("split", to: state.function { call in
///   let separator = call.isNil(1) ? "," : try call.text(1)
///   for part in try call.text(0).split(separator: separator) { call.return(String(part)) }
/// })
/// ```
///
/// An argument of a wrong kind throws, as in "bad argument #2 to 'split' (string expected, got table)". A call cannot be copied, so
/// it cannot outlive the closure that it is given to.
public struct LuaCall: ~Copyable {
  let frame: UnsafeMutablePointer<MBLFrame>
  /// The number of stack places before the first argument.
  let offset: Int32
  // The state keeps its methods until it closes, and a call ends before it closes.
  unowned(unsafe) let method: LuaHostFunction?

  init(_ frame: UnsafeMutablePointer<MBLFrame>, offset: Int32, method: LuaHostFunction? = nil) {
    self.frame = frame
    self.offset = offset
    self.method = method
  }

  /// Has `body` answer a call; C raises what it throws once no Swift frame is left.
  @inline(__always)
  static func answer(
    _ frame: UnsafeMutablePointer<MBLFrame>, offset: Int32, method: LuaHostFunction? = nil,
    _ body: (inout LuaCall) throws -> Void
  ) -> Int32 {
    var call = LuaCall(frame, offset: offset, method: method)
    do {
      try body(&call)
      return 0
    } catch {
      return call.fail(error)
    }
  }

  /// The call of a type's `reader`.
  @inline(__always)
  package init(ofReader frame: UnsafeMutableRawPointer) {
    self.init(frame.assumingMemoryBound(to: MBLFrame.self), offset: 2)
  }

  /// Hands over what the call failed with, and gives what C is told then.
  package func fail(_ error: any Error) -> Int32 {
    state.fail(error)
    return 1
  }

  /// The state whose script calls.
  public var state: LuaState { LuaState.owner(of: frame.pointee.state) }

  /// The number of arguments.
  public var count: Int { Int(frame.pointee.count - offset) }

  var thread: OpaquePointer { frame.pointee.thread }

  func place(_ index: Int) -> Int32 {
    guard index >= 0, index < count else { return 250_000 }
    return Int32(truncatingIfNeeded: index) &+ offset &+ 1
  }

  // MARK: Arguments

  /// Whether the argument is missing or nil.
  public func isNil(_ index: Int) -> Bool { mbl_is_none_or_nil(thread, place(index)) }

  /// Whether Lua takes the argument for true: all but nil and false.
  public func isTrue(_ index: Int) -> Bool { mbl_to_boolean(thread, place(index)) }

  /// Reads an integer; an integral float and a numeral will do, as in Lua.
  public func integer(_ index: Int) throws -> Int64 {
    var value: Int64 = 0
    if mbl_to_integer(thread, place(index), &value) { return value }
    throw integerError(index)
  }

  @inline(never)
  private func integerError(_ index: Int) -> LuaError {
    var number = 0.0
    if mbl_to_number(thread, place(index), &number) {
      return argumentError(index, problem: "number has no integer representation")
    }
    return typeError(index, expected: "number")
  }

  /// Reads a number; a numeral will do, as in Lua.
  public func number(_ index: Int) throws -> Double {
    var value = 0.0
    if mbl_to_number(thread, place(index), &value) { return value }
    throw typeError(index, expected: "number")
  }

  /// Reads a boolean; nothing else will do.
  public func boolean(_ index: Int) throws -> Bool {
    let plain = plain(index)
    guard plain.tag == .boolean else { throw typeError(index, expected: "boolean") }
    return plain.integer != 0
  }

  /// Reads a string of UTF-8.
  public func text(_ index: Int) throws -> String {
    let bytes = try withBytes(index) { bytes in
      String(validUTF8: bytes.assumingMemoryBound(to: UInt8.self))
    }
    guard let bytes else { throw argumentError(index, problem: "text is not UTF-8") }
    return bytes
  }

  /// Reads a string of UTF-8 that names something, and is looked up: in tables of Swift's, which take the square of the marks that a
  /// letter has.
  package func name(_ index: Int) throws -> String {
    let text = try text(index)
    guard !text.hasLongRunOfMarks else {
      throw argumentError(index, problem: "a name has more than 30 accents or other marks on one letter")
    }
    return text
  }

  /// Reads a string of any bytes.
  public func string(_ index: Int) throws -> LuaString { try withBytes(index) { LuaString(bytes: $0) } }

  /// Calls `body` with the bytes of a string argument, which live as long as the call.
  public func withBytes<Result>(
    _ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    let plain = plain(index)
    guard plain.tag == .string else { throw typeError(index, expected: "string") }
    return try body(UnsafeRawBufferPointer(start: plain.pointer, count: Int(plain.length)))
  }

  /// Reads a table.
  public func table(_ index: Int) throws -> LuaTable {
    guard case .table(let table) = try value(index) else { throw typeError(index, expected: "table") }
    return table
  }

  /// Reads a function.
  public func function(_ index: Int) throws -> LuaFunction {
    guard case .function(let function) = try value(index) else { throw typeError(index, expected: "function") }
    return function
  }

  /// Reads a host object of a class. `name` is the name of the class in the message of an error.
  public func object<Object: AnyObject>(
    _ index: Int, as type: Object.Type = Object.self, name: String? = nil
  ) throws -> Object {
    let plain = plain(index)
    if plain.tag == .object {
      guard let pointer = plain.pointer else { throw goneError(index) }
      if let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? Object { return object }
    }
    throw typeError(index, expected: name ?? String(describing: type))
  }

  /// The error of a handle whose scope has ended.
  func goneError(_ index: Int) -> LuaError {
    argumentError(index, problem: "\(typeName(index)) used outside of its callback")
  }

  /// Reads a host object of a class; nil if the argument is anything else.
  public func objectIfPresent<Object: AnyObject>(_ index: Int, as type: Object.Type = Object.self) -> Object? {
    let plain = plain(index)
    guard plain.tag == .object, let pointer = plain.pointer else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? Object
  }

  /// Reads an argument of any kind; `.nil` when it is missing.
  public func value(_ index: Int) throws(LuaError) -> LuaValue { try state.value(plain(index)) }

  /// Reads all arguments from an index on.
  public func values(from index: Int = 0) throws(LuaError) -> [LuaValue] {
    var all: [LuaValue] = []
    var index = index
    while index < count {
      all.append(try value(index))
      index += 1
    }
    return all
  }

  /// Lua's name of an argument's type, "no value" when missing.
  public func typeName(_ index: Int) -> String {
    if index >= count { return "no value" }
    return String(cString: mbl_type_name(thread, place(index)))
  }

  /// The text of a key for messages: texts as they are, numbers and booleans as Lua writes them, anything else by its type.
  func keyText(_ index: Int) throws(LuaError) -> String {
    switch try value(index) {
    case .string(let string): string.description.asName
    case .integer(let number): String(number)
    case .number(let number): String(number)
    case .boolean(let truth): String(truth)
    default: typeName(index)
    }
  }

  func plain(_ index: Int) -> MBLValue {
    var plain = MBLValue()
    mbl_get(thread, place(index), &plain)
    return plain
  }

  /// Calls `body` with the arguments after the first, for a function that does what a method does.
  public func withoutFirst(_ body: (inout LuaCall) throws -> Void) rethrows {
    var rest = LuaCall(frame, offset: offset + 1, method: method)
    try body(&rest)
  }
}
