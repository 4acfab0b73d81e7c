/// Reloading modules, for programs that watch files.
extension LuaState {
  /// Loads a module again. It runs in a new environment, and replaces the old module only if it succeeds.
  ///
  /// ```swift
  /// state.modules.add("colors", source: edited, frozen: false)
  /// try state.reload("colors")
  /// ```
  ///
  /// If the old module is a table, that table takes over the new contents, so that scripts that hold it see them. The
  /// new module's `on_reload(old)` is then called with a copy of the old contents. A new module that is not a table is
  /// refused then with `.module`, because holders of the table could not receive it. A module that was not loaded
  /// before is loaded. In preset `compat`, where each script has its own modules, the module is loaded for each script
  /// that has it, with the globals of that script.
  @discardableResult
  public func reload(_ name: String) throws -> LuaValue {
    var last: LuaValue?
    for scope in try scriptScopes(holding: name) { last = try reload(name, for: scope) }
    return try last ?? reload(name, for: sharedScope)
  }

  /// Reloads the module in one scope.
  private func reload(_ name: String, for scope: LuaModuleScope) throws -> LuaValue {
    guard let module = try loadModule(name, for: scope) else { throw missingModule(name) }
    let known = scope.own == nil ? loaded.tables[name] : try scope.own?.get(name).tableValue
    guard let known else { return try publish(module, as: name, in: scope) }
    guard let fresh = module.table else {
      throw LuaError(
        .module,
        message:
          "module '\(name)' was a table and gives \(module.value.typePhrase) now: scripts that hold the table would keep it"
      )
    }
    let old = try table()
    try old.replaceContents(with: known)
    try known.replaceContents(with: fresh)
    if case .function(let hook) = try known.get("on_reload") {
      do {
        try hook(.table(old))
      } catch {
        try known.replaceContents(with: old)
        throw error
      }
    }
    return try scope.module(name) ?? module.value
  }
}

/// Taking over contents.
extension LuaTable {
  /// Replaces the fields and the metatable by those of another table of the same state.
  public func replaceContents(with other: LuaTable) throws(LuaError) {
    _ = try other.reference.index(in: reference.state)
    try setMetatable(other.metatable)
    for (key, _) in try pairs { try set(key, to: .nil) }
    for (key, value) in try other.pairs { try set(key, to: value) }
  }
}
