import MoonbaseLua

/// A script's function that is a rule over a single value.
///
/// The graph keeps it as the origin of a value rule. Where a store checks rules over many rows, such functions are
/// combined into one call (`asking`).
final class ScriptRule {
  /// The function, which returns true for a valid value.
  let function: LuaFunction

  init(_ function: LuaFunction) { self.function = function }
}

extension ScriptDomain {
  /// A Lua function that calls another function and evaluates rules in the same call. Returns the function's result, or
  /// a table, which is no plain value, if a rule does not hold. `places` gives the index of the argument that each rule
  /// checks, or nil for the result. The result takes `argumentCount` arguments and passes the first `inputCount` on.
  ///
  /// For a rule over the first argument and a rule over the result, the Lua text is:
  ///
  /// ```text
  /// return function(a0)
  /// local value = f(a0)
  /// if a0 ~= nil and r0(a0) ~= true then return broken end
  /// if value ~= nil and r1(value) ~= true then return broken end
  /// return value
  /// end
  /// ```
  func asking(
    _ rules: [(place: Int?, rule: ScriptRule)], of function: LuaFunction, inputCount: Int, argumentCount: Int
  ) throws -> LuaFunction? {
    func names(_ prefix: String, _ count: Int) -> String {
      (0..<count).map { "\(prefix)\($0)" }.joined(separator: ", ")
    }
    let checks = rules.enumerated().map { index, entry in
      let value = entry.place.map { "a\($0)" } ?? "value"
      return "if \(value) ~= nil and r\(index)(\(value)) ~= true then return broken end"
    }
    let text = """
      local f, \(names("r", rules.count)) = ...
      local broken = {}
      return function(\(names("a", argumentCount)))
      local value = f(\(names("a", inputCount)))
      \(checks.joined(separator: " "))
      return value
      end
      """
    let chunk = try state.load(text, name: "each", in: state.environment([:]))
    return try chunk.call([.function(function)] + rules.map { .function($0.rule.function) }).first?.functionValue
  }
}
