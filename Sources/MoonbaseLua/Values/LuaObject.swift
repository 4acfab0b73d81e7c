/// A host object as Lua holds it.
public struct LuaObject {
  /// The Swift object.
  public let object: AnyObject
  /// The type under which Lua knows it.
  public let type: LuaAnyHostType

  /// An object and the type under which Lua is to see it.
  public init(_ object: AnyObject, as type: LuaAnyHostType) {
    self.object = object
    self.type = type
  }
}

/// Holds a Swift value so that Lua can hold it: dates, decimals, identifiers.
///
/// Register it with `LuaHostType<LuaBox<Date>>("date", interned: false)` and give it `.equal`, `.less` and `.text`.
public final class LuaBox<Value> {
  /// The value.
  public let value: Value

  /// A box of a value.
  public init(_ value: Value) { self.value = value }
}
