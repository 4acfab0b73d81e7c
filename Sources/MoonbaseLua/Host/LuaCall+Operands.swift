import MoonbaseLuaShim

extension LuaOperator {
  /// What a message says of two operands, such as "compare date with nil"; nil for what has no two operands.
  func phrase(_ left: String, _ right: String) -> String? {
    switch self {
    case .less, .lessOrEqual: "compare \(left) with \(right)"
    case .concatenate: "concatenate \(left) with \(right)"
    default: sign.map { "calculate \(left) \($0) \(right)" }
    }
  }

  private var sign: String? {
    switch self {
    case .add: "+"
    case .subtract: "-"
    case .multiply: "*"
    case .divide: "/"
    case .floorDivide: "//"
    case .modulo: "%"
    case .power: "^"
    default: nil
    }
  }
}

extension LuaCall {
  /// "attempt to compare date (field 'born') with nil (date expected)"; nil if this is no operator of two operands.
  @inline(never)
  func operandError(_ problem: String) -> LuaError? {
    guard let name = method?.operator, count >= 2 else { return nil }
    let fields = operandFields(of: name)
    let left = shown(0, fields?.left), right = shown(1, fields?.right)
    return name.phrase(left, right).map { LuaError(.runtime, "attempt to \($0) (\(problem))") }
  }

  private func shown(_ index: Int, _ field: String?) -> String {
    typeName(index) + (field.map { " (field '\($0)')" } ?? "")
  }

  /// Lua does not tell an operator whence its operands come: the caller's line may.
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
