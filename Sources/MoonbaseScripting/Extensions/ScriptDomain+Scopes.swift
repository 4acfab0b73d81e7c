import MoonbaseLua
import MoonbaseModel

/// The globals of extensions: a `moonbase` that cannot open other stores, and read-only classes of other extensions.
///
/// Each file runs with an environment of its own. Functions and constants of `moonbase` are copied into the
/// environment's table; the rest is looked up in the domain at each access.
extension ScriptDomain {
  /// Fields of `moonbase` that are looked up on access, or missing. Fields that are not copied into the table of an
  /// extension.
  private static let otherFields = doors.union(["classes", "context", "model", "reload"])

  /// Fields that give access to files and threads. Extensions do not have them.
  private static let doors: Set = ["background", "open", "parallel"]

  /// The globals of an extension whose own classes are stored in `own`.
  ///
  /// `own` is a weak table whose keys are the classes; the caller fills it when the file has run. `reader` finds the
  /// modules of the extension.
  func extensionScope(reader: LuaScopeReader, own: LuaTable) throws -> LuaEnvironment {
    let scope = try state.scope(LuaScopeClasses(proxies: classProxies, own: own), reader: reader)
    try scope.table.set("moonbase", to: .table(try scopedMoonbase(own)))
    return scope
  }

  /// The table `moonbase` of an extension, frozen. Missing names are looked up as in the global table, without the
  /// doors.
  private func scopedMoonbase(_ own: LuaTable) throws -> LuaTable {
    let table = try state.table()
    for (key, value) in try moonbase.pairs {
      guard let name = key.textValue, !Self.otherFields.contains(name) else { continue }
      try table.set(key, to: value)
    }
    try table.set("classes", to: .table(try scopedClasses(own)))
    let metatable = try state.table()
    let types = types
    try metatable.set(
      "__index",
      to: try state.function { [unowned types] call in
        let key = try call.value(1)
        if let name = key.textValue, Self.doors.contains(name) { return call.returnNil() }
        let value = try types.openDomain().absentField(key)
        // The table is taken from the call. A closure that captured it would form a cycle with it, and the scope would
        // never be released.
        if key.textValue == "date" { try call.table(0).set("date", to: value) }
        try call.return(value)
      })
    try table.setMetatable(metatable)
    return try table.frozen()
  }

  /// The table `moonbase.classes` of an extension: its own classes as they are, others as proxies.
  private func scopedClasses(_ own: LuaTable) throws -> LuaTable {
    let table = try state.table()
    let metatable = try state.table()
    let types = types
    try metatable.set(
      "__index",
      to: try state.function { [unowned types] call in
        let domain = try types.openDomain()
        let value = try domain.classes.get(try call.value(1))
        guard case .table(let known) = value, case .nil = try own.get(value) else { return try call.return(value) }
        try call.return(.table(domain.proxy(of: known)))
      })
    try table.setMetatable(metatable)
    return try table.frozen()
  }

  /// A read-only view of a table, including nested tables.
  ///
  /// Reading goes through to the table, writing raises an error. A callable class stays callable. The proxy of a table
  /// is kept, so that proxies of the same class are equal.
  func proxy(of table: LuaTable) throws -> LuaTable {
    if let known = try classProxies.get(.table(table)).tableValue { return known }
    let reading = try state.table()
    let metatable = try state.table()
    let types = types
    try metatable.set(
      "__index",
      to: try state.function { [unowned types] call in
        let value = try table.index(try call.value(1))
        guard case .table(let inner) = value else { return try call.return(value) }
        try call.return(.table(types.openDomain().proxy(of: inner)))
      })
    if case .function(let call)? = try table.metatable?.get("__call") {
      try metatable.set("__call", to: .function(call))
    }
    try reading.setMetatable(metatable)
    let proxy = try reading.frozen()
    try classProxies.set(.table(table), to: .table(proxy))
    return proxy
  }

  /// Replaces the proxies when classes change, because each proxy is bound to its table. Called after each registration
  /// of classes.
  func renewProxies() throws {
    for (key, _) in try classProxies.pairs { try classProxies.set(key, to: .nil) }
    for (_, value) in currentClasses { _ = try proxy(of: value) }
  }
}
