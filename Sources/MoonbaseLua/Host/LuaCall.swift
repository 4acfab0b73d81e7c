import MoonbaseLuaShim
import MoonbasePlatform

/// One call from Lua into Swift: its arguments, counted from 0, and its results, in the order they are returned.
///
/// It cannot be copied, so it cannot outlive the call.
public struct LuaCall: ~Copyable {
  let frame: UnsafeMutablePointer<MBLFrame>
  /// Stack places before the first argument.
  let offset: Int32
  // The state keeps its methods until it closes, and a call ends before that.
  unowned(unsafe) let method: LuaHostFunction?

  init(_ frame: UnsafeMutablePointer<MBLFrame>, offset: Int32, method: LuaHostFunction? = nil) {
    self.frame = frame
    self.offset = offset
    self.method = method
  }

  /// The state that calls.
  public var state: LuaState { LuaState.owner(of: frame.pointee.state) }

  /// The number of arguments.
  public var count: Int { Int(frame.pointee.count - offset) }

  var thread: OpaquePointer { frame.pointee.thread }

  /// Whether this is an assignment to a property: the object and the key come before the value.
  private var isSetter: Bool { offset == 2 && method == nil }

  func place(_ index: Int) -> Int32 {
    guard index >= 0, index < count else { return 250_000 }
    return Int32(truncatingIfNeeded: index) &+ offset &+ 1
  }

  // MARK: Arguments

  /// Whether the argument is missing or nil.
  public func isNil(_ index: Int) -> Bool { mbl_is_none_or_nil(thread, place(index)) }

  /// Lua's truth of an argument.
  public func isTrue(_ index: Int) -> Bool { mbl_to_boolean(thread, place(index)) }

  /// An integer; an integral float and a numeral will do, as in Lua.
  public func integer(_ index: Int) throws -> Int64 {
    var value: Int64 = 0
    if mbl_to_integer(thread, place(index), &value) { return value }
    throw integerError(index)
  }

  @inline(never)
  private func integerError(_ index: Int) -> LuaError {
    var number = 0.0
    if mbl_to_number(thread, place(index), &number) {
      return argumentError(index, "number has no integer representation")
    }
    return typeError(index, expected: "number")
  }

  /// A number; a numeral will do, as in Lua.
  public func number(_ index: Int) throws -> Double {
    var value = 0.0
    if mbl_to_number(thread, place(index), &value) { return value }
    throw typeError(index, expected: "number")
  }

  /// A boolean; nothing else will do.
  public func boolean(_ index: Int) throws -> Bool {
    let plain = plain(index)
    guard plain.tag == .boolean else { throw typeError(index, expected: "boolean") }
    return plain.integer != 0
  }

  /// A string of UTF-8.
  public func text(_ index: Int) throws -> String {
    let bytes = try withBytes(index) { bytes in
      String(validUTF8: bytes.assumingMemoryBound(to: UInt8.self))
    }
    guard let bytes else { throw argumentError(index, "text is not UTF-8") }
    return bytes
  }

  /// A string of any bytes.
  public func string(_ index: Int) throws -> LuaString { try withBytes(index) { LuaString(bytes: $0) } }

  /// Calls `body` with the bytes of a string argument, which live as long as the call.
  public func withBytes<Result>(
    _ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    let plain = plain(index)
    guard plain.tag == .string else { throw typeError(index, expected: "string") }
    return try body(UnsafeRawBufferPointer(start: plain.pointer, count: Int(plain.length)))
  }

  /// A table.
  public func table(_ index: Int) throws -> LuaTable {
    guard case .table(let table) = try value(index) else { throw typeError(index, expected: "table") }
    return table
  }

  /// A function.
  public func function(_ index: Int) throws -> LuaFunction {
    guard case .function(let function) = try value(index) else { throw typeError(index, expected: "function") }
    return function
  }

  /// A host object of a class; `name` is what the message calls it.
  public func object<Object: AnyObject>(
    _ index: Int, as type: Object.Type = Object.self, name: String? = nil
  ) throws -> Object {
    let plain = plain(index)
    if plain.tag == .object {
      guard let pointer = plain.pointer else {
        throw argumentError(index, "\(typeName(index)) used outside of its callback")
      }
      if let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? Object { return object }
    }
    throw typeError(index, expected: name ?? String(describing: type))
  }

  /// A host object of a class, or nil if the argument is something else.
  public func objectIfPresent<Object: AnyObject>(_ index: Int, as type: Object.Type = Object.self) -> Object? {
    let plain = plain(index)
    guard plain.tag == .object, let pointer = plain.pointer else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? Object
  }

  /// Any argument; nil when missing.
  public func value(_ index: Int) throws(LuaError) -> LuaValue { try state.value(plain(index)) }

  /// All arguments from an index on.
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

  /// An argument as the key of a message: text as it is, numbers and truth values as Lua writes them, all else by its type.
  func keyText(_ index: Int) throws(LuaError) -> String {
    switch try value(index) {
    case .string(let string): string.description
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

  // MARK: Errors

  /// The error of an argument: "bad argument #2 to 'resize' (…)".
  public func argumentError(_ index: Int, _ problem: String) -> LuaError {
    if let error = operandError(problem) { return error }
    if isSetter {
      let key = (try? LuaCall(frame, offset: 1).keyText(0)) ?? "?"
      return LuaError(.runtime, "bad value for '\(key)' (\(problem))")
    }
    var isMethod = false
    let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      mbl_function_name(thread, base, 128, &isMethod)
      return String(cString: base)
    }
    // Called as a method, `self` is not counted. A method that Lua has no name for was called by `pcall` or as the last thing of
    // a function, and is taken as called in the usual way.
    let countsSelf = !isMethod && (method == nil || !name.isEmpty)
    let number = index + Int(offset) + 1 - (countsSelf ? 0 : 1)
    let shown = method?.methodName ?? (name.isEmpty ? "?" : name)
    if number == 0 { return LuaError(.runtime, "calling '\(shown)' on bad self (\(problem))") }
    return LuaError(.runtime, "bad argument #\(number) to '\(shown)' (\(problem))")
  }

  /// Throws where there is an argument that nobody takes: a slip of whoever calls, who would wait for its effect.
  package func refuse(from first: Int) throws(LuaError) {
    for index in first..<max(first, count) where !isNil(index) {
      let taken = first == 0 ? "no argument" : first == 1 ? "1 argument" : "\(first) arguments"
      throw argumentError(index, "it takes \(taken)\(first == 0 ? "" : " at most"), got \(typeName(index))")
    }
  }

  /// "script.lua:12: ", where a mistake is to be sought: in the script that called, past the modules on board.
  var blamedPlace: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      mbl_blame(thread, base, 128)
      return String(cString: base)
    }
  }

  /// The error of an argument of a wrong type: "(number expected, got nil)".
  public func typeError(_ index: Int, expected: String) -> LuaError {
    operandError("\(expected) expected") ?? argumentError(index, "\(expected) expected, got \(typeName(index))")
  }

  // MARK: Results

  /// Returns nil.
  public mutating func returnNil() { give(.nil, 0) }

  /// Returns a boolean.
  public mutating func `return`(_ value: Bool) { give(.boolean, value ? 1 : 0) }

  /// Returns an integer.
  public mutating func `return`(_ value: Int64) { give(.integer, value) }

  /// Returns an integer.
  public mutating func `return`(_ value: Int) { `return`(Int64(value)) }

  /// Returns a number.
  public mutating func `return`(_ value: Double) { give(.number, Int64(bitPattern: value.bitPattern)) }

  /// Returns a text.
  public mutating func `return`(_ value: String) {
    var value = value
    value.withUTF8 { giveBytes(UnsafeRawBufferPointer($0)) }
  }

  /// Returns a string of any bytes.
  public mutating func `return`(bytes: UnsafeRawBufferPointer) { giveBytes(bytes) }

  /// Returns a host object; with `scoped` its handle dies with the innermost scope.
  public mutating func `return`(_ object: AnyObject, as type: LuaAnyHostType, scoped: Bool = false) throws(LuaError) {
    give(try type.plain(object, scoped: scoped, in: state))
  }

  /// Returns any value.
  public mutating func `return`(_ value: LuaValue) throws(LuaError) {
    let state = state
    let buffer = state.takeBuffer(1)
    defer { state.giveBack(buffer) }
    try buffer.set(0, value, for: state)
    buffer.seal(1)
    mbl_frame_return(frame, buffer.values)
    // A reference is only good while the value is held: take it onto the stack now.
    if buffer.values[0].tag == .reference { _ = mbl_frame_flush(frame) }
  }

  private func give(_ plain: MBLValue) {
    withUnsafePointer(to: plain) { mbl_frame_return(frame, $0) }
  }

  /// A first result that is a scalar waits in the frame as it is.
  private func give(_ tag: MBLTag, _ word: Int64) {
    guard !frame.pointee.hasResult else {
      var plain = MBLValue()
      plain.tag = tag
      plain.integer = word
      return give(plain)
    }
    frame.pointee.result.tag = tag
    frame.pointee.result.integer = word
    frame.pointee.hasResult = true
  }

  private func giveBytes(_ bytes: UnsafeRawBufferPointer) {
    var plain = MBLValue()
    plain.tag = .string
    plain.pointer = bytes.baseAddress
    plain.length = UInt64(bytes.count)
    give(plain)
  }

  /// Keeps the error for C to raise.
  func fail(_ error: any Error) -> Int32 {
    state.fail(error)
    return 1
  }
}
