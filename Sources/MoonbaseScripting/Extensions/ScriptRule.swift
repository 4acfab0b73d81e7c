import MoonbaseLua

/// A function of a script that is a rule over one value.
final class ScriptRule {
  let function: LuaFunction

  init(_ function: LuaFunction) { self.function = function }
}

extension ScriptDomain {
  /// A function that calls another one and asks rules in the same call: what it gives, or a table, which is no plain value, where one does not hold. `places` says of
  /// each rule which argument it looks at, from 0 on; nil for the result. It takes so many arguments, and the function the first `inputCount`.
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
