import MoonbaseLuaShim

/// A closure that Lua calls as a function, or for an operator of a host type.
///
/// Made by `LuaState.function` and by host types. Retained by Lua.
final class LuaClosure: LuaHostFunction {
  /// Nil for a plain function.
  private let operatorName: LuaOperator?
  /// The name for messages; nil for an unnamed function.
  private let name: String?
  /// Whether the first argument is the called table.
  private let isOfTable: Bool
  /// The implementation.
  private let body: (inout LuaCall) throws -> Void

  /// A function has a name or an operator, not both.
  init(
    operator operatorName: LuaOperator? = nil, name: String? = nil, isOfTable: Bool = false,
    _ body: @escaping (inout LuaCall) throws -> Void
  ) {
    self.operatorName = operatorName
    self.name = name
    self.isOfTable = isOfTable
    self.body = body
  }

  override var `operator`: LuaOperator? { operatorName }
  override var functionName: String? { name }
  override var isCallOfTable: Bool { isOfTable }

  /// Plain closures pass no method, because messages then find the name in Lua.
  override func call(_ frame: UnsafeMutablePointer<MBLFrame>) -> Int32 {
    let isNamed = operatorName != nil || name != nil
    return LuaCall.answer(frame, offset: 0, method: isNamed ? self : nil) { call in try body(&call) }
  }
}

/// A method. It checks that its first argument is an object of the type.
///
/// Made by `LuaHostType.method`. Surplus arguments other than nil are errors.
final class LuaMethod<Object>: LuaHostFunction {
  /// The name of the type, for messages.
  private let type: String
  /// The name of the method.
  private let name: String
  /// The greatest number of arguments without the object.
  private let greatestCount: Int
  /// The implementation.
  private let body: (Object, inout LuaCall) throws -> Void
  /// The first argument, if it has the method's type.
  private let first: (borrowing LuaCall) -> Object?

  /// `first` differs for classes and inline values.
  init(
    _ name: String, of type: String, upTo greatestCount: Int, _ body: @escaping (Object, inout LuaCall) throws -> Void,
    first: @escaping (borrowing LuaCall) -> Object?
  ) {
    self.first = first
    self.name = name
    self.type = type
    self.greatestCount = greatestCount
    self.body = body
  }

  override var methodName: String? { name }

  /// The object is not among the arguments of the body.
  override func call(_ frame: UnsafeMutablePointer<MBLFrame>) -> Int32 {
    LuaCall.answer(frame, offset: 1, method: self) { call in
      let object = try object(frame)
      if call.count > greatestCount { try call.refuse(from: greatestCount) }
      try body(object, &call)
    }
  }

  /// Throws for a missing object: the script used `.` instead of `:`.
  private func object(_ frame: UnsafeMutablePointer<MBLFrame>) throws -> Object {
    let call = LuaCall(frame, offset: 0, method: self)
    if let object = first(call) { return object }
    // A handle whose scope has ended gets its own error instead of a type error.
    let plain = call.plain(0)
    if plain.tag == .object, plain.pointer == nil { throw call.goneError(0) }
    throw call.argumentError(0, problem: "\(type) expected, got \(call.typeName(0)): call it with ':', not with '.'")
  }
}

/// Functions of the host.
extension LuaState {
  /// Creates a Lua function that calls `body`. An error thrown by `body` passes through Lua and is the
  /// `LuaError.underlying` of the caller's error.
  ///
  /// ```swift
  /// try state.setGlobal("twice", to: state.function { call in call.return(try call.integer(0) &* 2) })
  /// ```
  ///
  /// `weight` is the number of bytes that `body` retains, counted as memory of the scripts. Messages about arguments
  /// use `name` if the script called the function without a name, as `pcall` does.
  public func function(
    named name: String? = nil, weight: Int = 256, _ body: @escaping (inout LuaCall) throws -> Void
  ) throws(LuaError) -> LuaValue {
    .function(try makeFunction(named: name, weight: weight, body))
  }

  /// Creates a Lua function that calls `body`, as `function(named:weight:_:)` does, and returns its handle. Throws
  /// `.memory`.
  public func makeFunction(
    named name: String? = nil, weight: Int = 256, _ body: @escaping (inout LuaCall) throws -> Void
  ) throws(LuaError) -> LuaFunction {
    let closure = Unmanaged<LuaHostFunction>.passRetained(LuaClosure(name: name, body))
    defer { closure.release() }
    return LuaFunction(reference: try keep(mbl_function_new(raw, closure.toOpaque(), Int64(weight))))
  }

  /// Creates the `__call` function of a table that scripts call. The table is argument 0, which messages do not count.
  package func makeCallOfTable(
    named name: String, _ body: @escaping (inout LuaCall) throws -> Void
  ) throws(LuaError) -> LuaFunction {
    let closure = Unmanaged<LuaHostFunction>.passRetained(LuaClosure(name: name, isOfTable: true, body))
    defer { closure.release() }
    return LuaFunction(reference: try keep(mbl_function_new(raw, closure.toOpaque(), 256)))
  }

  /// Allows boolean and text properties with these names to be called as methods: `object:name()` gives `object.name`.
  /// All other calls of these values raise the usual error.
  package func letPropertiesBeCalled(_ names: [String]) throws(LuaError) {
    // `joined` would search all protocol conformances of the program at each start.
    try check(mbl_call_properties(raw, names.dropFirst().reduce(names.first ?? "") { $0 + " " + $1 }))
  }
}
