package import MoonbaseLua
package import MoonbaseModel
package import MoonbasePlatform

/// The types under which a Lua state knows values without a Lua type, and their constructors.
///
/// Retained by the `companion` of the state.
///
/// An object of this class belongs to one state and is confined to its thread. Each type has
/// operators, methods and a text form, which are defined in the extensions of this class.
package final class LuaValueTypes {
  /// The type of dates.
  package let date = LuaValueType<Date>("date")
  /// The type of decimals.
  package let decimal = LuaValueType<Decimal>("decimal")
  /// The type of UUIDs.
  package let uuid = LuaValueType<UUID>("uuid")
  /// The type of URIs.
  package let uri = LuaValueType<URL>("uri")
  /// The type of object IDs.
  package let objectID = LuaValueType<ManagedObjectID>("object ID")

  /// The state, which retains this object.
  unowned let state: LuaState

  /// Registers the types in a state.
  package init(_ state: LuaState) {
    self.state = state
    for type: LuaAnyHostType in [date, decimal, uuid, uri, objectID] {
      type.isText = true
      type.usualWeight = 64
    }
    uri.weight { Value.uri($0).weight }
    // Most scripts meet few of these types, so a type is described when its first object is passed to Lua.
    state.later(date, others: Self.fieldOfDate) { [unowned self] in describeDate() }
    state.later(decimal) { [unowned self] in describeDecimal() }
    state.later(uuid) { [unowned self] in describeUUID() }
    state.later(uri) { [unowned self] in describeURI() }
    state.later(objectID) { [unowned self] in describeObjectID() }
  }

  /// The Lua code for a field that dates do not have, for advice.
  private static func fieldOfDate(_ name: String) -> String? {
    switch name {
    case "year", "month", "day", "hour", "minute", "second", "weekday":
      "require(\"moonbase.date\").fields(date).\(name)"
    default: nil
    }
  }

  /// The value of an object of these types; nil for other objects.
  ///
  /// The graph uses it to convert arguments and results of scripts.
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
  /// Describes a type when its first object is passed to Lua. The error for an unknown name suggests the nearest name,
  /// or the counterpart of a name in other libraries.
  ///
  /// - Parameters:
  ///   - type: The type to describe.
  ///   - others: The counterpart of a name from other libraries; nil if there is none.
  ///   - describe: Defines the operators and methods of the type.
  package func later(
    _ type: LuaAnyHostType, others: @escaping (String) -> String? = { _ in nil }, _ describe: @escaping () -> Void
  ) {
    type.advice = { [unowned type] name in
      others(name).map { "; did you mean \($0)?" } ?? suggestion(for: name, among: type.names)
    }
    registerLater(type, describe: describe)
  }
}
