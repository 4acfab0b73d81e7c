import MoonbaseLuaShim
import MoonbasePlatform

/// A call from Lua into Swift, with its arguments, counted from 0, and its results, in the order in which they are
/// returned.
///
/// ```swift
/// try state.setGlobal("split", to: state.function { call in
///   let separator = call.isNil(1) ? "," : try call.text(1)
///   for part in try call.text(0).split(separator: separator) { call.return(String(part)) }
/// })
/// ```
///
/// An argument of a wrong type throws, as in "bad argument #2 to 'split' (string expected, got table)". A call is not
/// copyable, so it cannot outlive the closure that receives it.
public struct LuaCall: ~Copyable {
  /// The call in C.
  let frame: UnsafeMutablePointer<MBLFrame>
  /// The number of stack places before the first argument.
  let offset: Int32
  // Sound: the state retains its methods until it closes, after all calls.
  /// The called function, for messages; nil for plain closures and properties.
  unowned(unsafe) let method: LuaHostFunction?

  /// `offset` is 1 for a method without its object, and 2 for an assignment's value.
  init(_ frame: UnsafeMutablePointer<MBLFrame>, offset: Int32, method: LuaHostFunction? = nil) {
    self.frame = frame
    self.offset = offset
    self.method = method
  }

  /// Lets `body` handle a call. C raises its error after all Swift frames have returned. Returns 0, or 1 after an
  /// error.
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

  /// Stores the error of the call and returns the result code for C.
  /// The error is raised when the Swift function returns to C.
  package func fail(_ error: any Error) -> Int32 {
    state.fail(error)
    return 1
  }

  /// The state whose script calls.
  public var state: LuaState { LuaState.owner(of: frame.pointee.state) }

  /// The number of arguments.
  public var count: Int { Int(frame.pointee.count - offset) }

  /// The coroutine that calls.
  var thread: OpaquePointer { frame.pointee.thread }

  /// The place on the stack of an argument; for a missing argument a place without a value.
  func place(_ index: Int) -> Int32 {
    guard index >= 0, index < count else { return 250_000 }
    return Int32(truncatingIfNeeded: index) &+ offset &+ 1
  }

  // MARK: Arguments

  /// Whether the argument is missing or nil.
  public func isNil(_ index: Int) -> Bool { mbl_is_none_or_nil(thread, place(index)) }

  /// Whether the argument is true in Lua: all values but nil and false.
  public func isTrue(_ index: Int) -> Bool { mbl_to_boolean(thread, place(index)) }

  /// Reads an integer. Integral floats and numerals are accepted, as in Lua.
  public func integer(_ index: Int) throws -> Int64 {
    var value: Int64 = 0
    if mbl_to_integer(thread, place(index), &value) { return value }
    throw integerError(index)
  }

  /// Distinguishes a fraction from a value of another type.
  @inline(never)
  private func integerError(_ index: Int) -> LuaError {
    var number = 0.0
    if mbl_to_number(thread, place(index), &number) {
      return argumentError(index, problem: "number has no integer representation")
    }
    return typeError(index, expected: "number")
  }

  /// Reads a number. Numerals are accepted, as in Lua.
  public func number(_ index: Int) throws -> Double {
    var value = 0.0
    if mbl_to_number(thread, place(index), &value) { return value }
    throw typeError(index, expected: "number")
  }

  /// Reads a boolean. No other type is accepted.
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

  /// Reads a name in UTF-8. Refuses names with long runs of combining marks, because lookups in Swift take time
  /// quadratic in them.
  package func name(_ index: Int) throws -> String {
    let text = try text(index)
    guard !text.hasLongRunOfMarks else {
      throw argumentError(index, problem: "a name has more than 30 accents or other marks on one letter")
    }
    return text
  }

  /// Reads a string of any bytes.
  public func string(_ index: Int) throws -> LuaString { try withBytes(index) { LuaString(bytes: $0) } }

  /// Calls `body` with the bytes of a string argument, which are valid during the call.
  public func withBytes<Result>(
    _ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    let plain = plain(index)
    guard plain.tag == .string else { throw typeError(index, expected: "string") }
    return try body(UnsafeRawBufferPointer(start: plain.pointer, count: Int(plain.length)))
  }

  /// Reads a table. Throws for a value of any other type.
  public func table(_ index: Int) throws -> LuaTable {
    guard case .table(let table) = try value(index) else { throw typeError(index, expected: "table") }
    return table
  }

  /// Reads a function. Throws for a value of any other type.
  public func function(_ index: Int) throws -> LuaFunction {
    guard case .function(let function) = try value(index) else { throw typeError(index, expected: "function") }
    return function
  }

  /// Reads a host object of a class. `name` is the class name in error messages. Throws for an object of another class,
  /// and for a handle whose scope has ended.
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

  /// Reads a host object of a class; nil for other arguments. Never throws.
  public func objectIfPresent<Object: AnyObject>(_ index: Int, as type: Object.Type = Object.self) -> Object? {
    let plain = plain(index)
    guard plain.tag == .object, let pointer = plain.pointer else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? Object
  }

  /// Reads an argument of any type; `.nil` if it is missing.
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

  /// Lua's name of an argument's type; "no value" if it is missing.
  public func typeName(_ index: Int) -> String {
    if index >= count { return "no value" }
    return String(cString: mbl_type_name(thread, place(index)))
  }

  /// The text of a key for messages: strings unchanged, numbers and booleans as Lua writes them, other values by their
  /// type.
  func keyText(_ index: Int) throws(LuaError) -> String {
    switch try value(index) {
    case .string(let string): string.description.asName
    case .integer(let number): String(number)
    case .number(let number): String(number)
    case .boolean(let truth): String(truth)
    default: typeName(index)
    }
  }

  /// The argument in C; nil beyond the last one.
  func plain(_ index: Int) -> MBLValue {
    var plain = MBLValue()
    mbl_get(thread, place(index), &plain)
    return plain
  }

  /// Calls `body` with the arguments after the first, for a function form of a method. The messages of errors count the
  /// first argument as the object.
  public func withoutFirst(_ body: (inout LuaCall) throws -> Void) rethrows {
    var rest = LuaCall(frame, offset: offset + 1, method: method)
    try body(&rest)
  }
}
