/// A Swift object together with the type under which Lua knows it.
///
/// ```swift
/// try state.setGlobal("origin", to: .object(LuaObject(Point(0, 0), as: point)))
/// let point = try state.global("origin").objectValue(as: Point.self)
/// ```
public struct LuaObject {
  /// The Swift object.
  public let object: AnyObject
  /// The type under which Lua knows it.
  public let type: LuaAnyHostType

  /// Pairs an object with the type under which Lua is to see it.
  public init(_ object: AnyObject, as type: LuaAnyHostType) {
    self.object = object
    self.type = type
  }
}

/// Holds a Swift value in an object. A `LuaValue` has values of a `LuaValueType` in this form: dates, decimals,
/// identifiers.
///
/// ```swift
/// let epoch = try state.global("epoch").objectValue(as: LuaBox<Date>.self)?.value
/// ```
public final class LuaBox<Value> {
  /// The value.
  public let value: Value

  /// Puts a value into a box.
  public init(_ value: Value) { self.value = value }
}
