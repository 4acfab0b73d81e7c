extension LuaState {
  /// Loads a module again. It runs in a fresh environment; only when that succeeds does it replace the old one.
  ///
  /// Where both are tables the old table takes over the new contents, so that whoever holds it sees them, and the new module's
  /// `on_reload(old)` is called with a copy of the old contents. A module not yet loaded is just loaded.
  @discardableResult
  public func reload(_ name: String) throws -> LuaValue {
    guard let value = try loadModule(name) else { throw missingModule(name) }
    guard let fresh = freshTables.removeValue(forKey: name), let known = moduleTables[name] else {
      return try publish(name, value)
    }
    let old = try table()
    for (key, value) in try known.pairs { try old.set(key, value) }
    try known.replaceContents(with: fresh)
    if case .function(let hook) = try known.get("on_reload") {
      do {
        try hook(.table(old))
      } catch {
        try known.replaceContents(with: old)
        throw error
      }
    }
    return try loadedModules?.get(name) ?? value
  }

  /// Makes a loaded module the one that `require` gives.
  func publish(_ name: String, _ value: LuaValue) throws(LuaError) -> LuaValue {
    moduleTables[name] = freshTables.removeValue(forKey: name)
    try loadedModules?.set(name, value)
    return value
  }
}

extension LuaTable {
  /// Takes over the fields and the metatable of another table; its own are gone.
  public func replaceContents(with other: LuaTable) throws(LuaError) {
    for (key, _) in try pairs { try set(key, .nil) }
    for (key, value) in try other.pairs { try set(key, value) }
    if let metatable = try other.metatable { try setMetatable(metatable) }
  }
}
