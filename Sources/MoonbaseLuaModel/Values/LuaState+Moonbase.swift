package import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension LuaState {
  /// Whether a table is the one that scripts see as `moonbase`.
  ///
  /// Constructors use it to detect a call with `:`, which passes the table as the first argument.
  package func isMoonbase(_ table: LuaTable) throws -> Bool {
    try global("moonbase").tableValue?.isSame(as: table) == true
  }

  /// A function that throws the error about calling a table of functions.
  ///
  /// The error is `.invalidRequest`, with the advice behind the name.
  package func notCallable(_ name: String, advice: String) throws -> LuaFunction {
    try makeFunction { _ in
      throw ModelError(.invalidRequest, message: "\(name) is a table of functions: \(advice)")
    }
  }

  /// Sets a metatable with advice for calls and misspelt names. With `constructor` the table may be called.
  ///
  /// An unknown name throws `.unknownName` with a suggestion. `others` may provide values for names
  /// that the table lacks.
  package func describe(
    _ table: LuaTable, as name: String, call advice: String = "", constructor: LuaFunction? = nil,
    others: @escaping (String) throws -> LuaValue? = { _ in nil }
  ) throws {
    let metatable = try self.table(["__call": .function(try constructor ?? notCallable(name, advice: advice))])
    try metatable.set(
      "__index",
      to: try function { call in
        let key = try call.value(1)
        let shown = key.textValue?.asName ?? key.typePhrase
        // Preset `pure` has no clock, so scripts may test for `now`.
        if shown == "now" { return call.returnNil() }
        if let other = try others(shown) { return try call.return(other) }
        // A module may have added names.
        let names = try table.pairs.compactMap(\.key.textValue).sorted()
        throw ModelError(.unknownName, message: "\(name) has no '\(shown)'\(suggestion(for: shown, among: names))")
      })
    try table.setMetatable(metatable)
  }
}
