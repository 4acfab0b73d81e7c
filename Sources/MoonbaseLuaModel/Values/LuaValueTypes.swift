package import MoonbaseLua
package import MoonbaseModel
package import MoonbasePlatform

/// The types under which one Lua state knows the values that Lua has no type for, and their constructors.
///
/// The companion of the state keeps an object of this class alive.
package final class LuaValueTypes {
  package let date = LuaValueType<Date>("date")
  package let decimal = LuaValueType<Decimal>("decimal")
  package let uuid = LuaValueType<UUID>("uuid")
  package let uri = LuaValueType<URL>("uri")
  package let objectID = LuaValueType<ManagedObjectID>("object ID")

  unowned let state: LuaState

  package init(_ state: LuaState) {
    self.state = state
    for type: LuaAnyHostType in [date, decimal, uuid, uri, objectID] {
      type.isText = true
      type.usualWeight = 64
    }
    uri.weight { Value.uri($0).weight }
    // Most scripts meet few of these: each is described when its first object is handed over.
    state.later(date, others: Self.fieldOfDate) { [unowned self] in describeDate() }
    state.later(decimal) { [unowned self] in describeDecimal() }
    state.later(uuid) { [unowned self] in describeUUID() }
    state.later(uri) { [unowned self] in describeURI() }
    state.later(objectID) { [unowned self] in describeObjectID() }
  }

  private static func fieldOfDate(_ name: String) -> String? {
    switch name {
    case "year", "month", "day", "hour", "minute", "second", "weekday":
      "require(\"moonbase.date\").fields(date).\(name)"
    default: nil
    }
  }

  /// The value of an object of these types; nil for other objects.
  package static func value(of object: LuaObject) -> Value? {
    switch object.object {
    case let box as LuaBox<Date>: .date(box.value)
    case let box as LuaBox<Decimal>: .decimal(box.value)
    case let box as LuaBox<UUID>: .uuid(box.value)
    case let box as LuaBox<URL>: .uri(box.value)
    case let box as LuaBox<ManagedObjectID>: .objectID(box.value)
    default: nil
    }
  }
}

extension LuaState {
  /// Describes a type when its first object is handed over. The error for an unknown name suggests the nearest right
  /// name, or the counterpart of a name in other libraries.
  package func later(
    _ type: LuaAnyHostType, others: @escaping (String) -> String? = { _ in nil }, _ describe: @escaping () -> Void
  ) {
    type.advice = { [unowned type] name in
      others(name).map { "; did you mean \($0)?" } ?? suggestion(for: name, among: type.names)
    }
    registerLater(type, describe: describe)
  }
}
