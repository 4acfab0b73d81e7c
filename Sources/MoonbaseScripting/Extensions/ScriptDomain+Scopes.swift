import MoonbaseLua
import MoonbaseModel

/// The globals of extensions: a `moonbase` that cannot open other stores, and read-only classes of other extensions.
extension ScriptDomain {
  /// Fields of `moonbase` that are looked up on access, or missing.
  private static let otherFields = doors.union(["classes", "context", "model", "reload"])

  /// Fields that give access to files and threads. Extensions do not have them.
  private static let doors: Set = ["background", "open", "parallel"]

  /// The globals of an extension whose own classes are stored in `own`.
  func extensionScope(reader: LuaScopeReader, own: LuaTable) throws -> LuaEnvironment {
    let scope = try state.scope(LuaScopeClasses(proxies: classProxies, own: own), reader: reader)
    try scope.table.set("moonbase", to: .table(try scopedMoonbase(own)))
    return scope
  }

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

  /// Replaces the proxies when classes change, because each proxy is bound to its table.
  func renewProxies() throws {
    for (key, _) in try classProxies.pairs { try classProxies.set(key, to: .nil) }
    for (_, value) in currentClasses { _ = try proxy(of: value) }
  }
}
