import MoonbaseLuaShim

/// Errors about arguments and operands.
extension LuaCall {
  /// Creates an error about an argument, for the caller to throw: "bad argument #2 to 'resize' (…)".
  ///
  /// ```swift
  /// guard width > 0 else { throw call.argumentError(1, problem: "the width must be positive") }
  /// ```
  /// Indexes count from 0 here, and from 1 in messages.
  public func argumentError(_ index: Int, problem: String) -> LuaError {
    if let error = operandError(problem) { return error }
    if isSetter {
      let key = (try? LuaCall(frame, offset: 1).keyText(0)) ?? "?"
      return LuaError(.runtime, message: "bad value for '\(key)' (\(problem))")
    }
    var isMethod = false
    let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      mbl_function_name(thread, base, 128, &isMethod)
      return String(cString: base)
    }
    // In a call with ":" the object is not counted. If Lua has no name for a method, it was called by `pcall` or in a
    // tail call, and is assumed to be called with ":".
    let countsSelf =
      method?.isCallOfTable != true && !isMethod && (method == nil || method?.functionName != nil || !name.isEmpty)
    let number = index + Int(offset) + 1 - (countsSelf ? 0 : 1)
    let shown = method?.methodName ?? (name.isEmpty ? method?.functionName ?? "?" : name)
    if number == 0 { return LuaError(.runtime, message: "calling '\(shown)' on bad self (\(problem))") }
    return LuaError(.runtime, message: "bad argument #\(number) to '\(shown)' (\(problem))")
  }

  /// Throws for a surplus argument other than nil, because a script that passes it expects an effect.
  package func refuse(from first: Int) throws(LuaError) {
    for index in first..<max(first, count) where !isNil(index) {
      let taken = first == 0 ? "no argument" : first == 1 ? "1 argument" : "\(first) arguments"
      throw argumentError(index, problem: "it takes \(taken)\(first == 0 ? "" : " at most"), got \(typeName(index))")
    }
  }

  /// Creates an error about an argument's type, for the caller to throw: "(number expected, got nil)".
  public func typeError(_ index: Int, expected: String) -> LuaError {
    operandError("\(expected) expected")
      ?? argumentError(index, problem: "\(expected) expected, got \(typeName(index))")
  }

  /// Whether this is an assignment to a property, whose arguments are the object, the key and the value.
  private var isSetter: Bool { offset == 2 && method == nil }

  // MARK: Operands

  /// "attempt to compare date (field 'born') with nil (date expected)"; nil unless this is a binary operator.
  @inline(never)
  func operandError(_ problem: String) -> LuaError? {
    guard let name = method?.operator, count >= 2 else { return nil }
    let fields = operandFields(of: name)
    let left = shown(0, field: fields?.left), right = shown(1, field: fields?.right)
    return name.phrase(left, right).map { LuaError(.runtime, message: "attempt to \($0) (\(problem))") }
  }

  /// The type of an operand, with its field if it is known.
  private func shown(_ index: Int, field: String?) -> String {
    typeName(index) + (field.map { " (field '\($0)')" } ?? "")
  }

  /// The fields that are the operands. Lua does not report them, but the caller's source line may.
  private func operandFields(of name: LuaOperator) -> LuaOperandFields? {
    let place = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      mbl_where(thread, 1, base, 128)
      return String(cString: base)
    }
    let parts = place.split(separator: ":")
    guard parts.count >= 3, let line = Int(parts[parts.count - 2]) else { return nil }
    let script = parts.dropLast(2).joined(separator: ":")
    return state.sources[script].flatMap { LuaOperandFields(of: name, line: line, in: $0) }
  }
}
