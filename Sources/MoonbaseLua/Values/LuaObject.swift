/// A Swift object with the type under which Lua knows it.
///
/// ```swift
/// try state.setGlobal("origin", to: .object(LuaObject(Point(0, 0), as: point)))
/// let point = try state.global("origin").objectValue(as: Point.self)
/// ```
public struct LuaObject {
  /// The Swift object.
  public let object: AnyObject
  /// The type of the object in Lua.
  public let type: LuaAnyHostType

  /// Pairs an object with its type in Lua.
  public init(_ object: AnyObject, as type: LuaAnyHostType) {
    self.object = object
    self.type = type
  }
}

/// A Swift value in an object, the form in which a `LuaValue` holds values of a `LuaValueType`: dates, decimals,
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
