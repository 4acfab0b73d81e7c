import MoonbaseLua
import MoonbaseModel

extension LuaValue {
  /// The reason that a function returns behind nil or false: a text, or a table that `tostring` makes a text of, as a
  /// fault of `moonbase.fault` is.
  ///
  /// Cut to the length of `TextLimits.reason`. Nil for values of other types.
  var reason: String? {
    get throws(LuaError) { try reasonText.map(TextLimits.reason) }
  }

  /// The text before it is shortened.
  private var reasonText: String? {
    get throws(LuaError) {
      guard case .table(let table) = self else { return textValue }
      guard case .function(let describe)? = try table.metatable?.get("__tostring") else { return nil }
      return try describe.call([self]).first?.textValue
    }
  }
}
