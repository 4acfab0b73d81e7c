/// Holds a Swift value so that Lua can hold it: dates, decimals, identifiers.
///
/// Register it with `LuaHostType<LuaBox<Date>>("date", interned: false)` and give it `.equal`, `.less` and `.text`.
public final class LuaBox<Value> {
  /// The value.
  public let value: Value

  /// A box of a value.
  public init(_ value: Value) { self.value = value }
}
