import MoonbaseLuaShim

/// A module that was just loaded.
///
/// Stored by `LuaState.publish`.
struct LuaLoadedModule {
  /// The result of `require`.
  var value: LuaValue
  /// The table that the module returned, if `value` is its frozen view.
  var table: LuaTable?
  /// Whether the module belongs to a single script, whose globals it shares.
  var isScripts = false
}

/// The modules that a state has loaded.
///
/// Belongs to a state.
struct LuaLoadedModules {
  /// The modules shared by all scripts, by name.
  var shared: LuaTable?
  /// In preset `compat`: the modules of each script, by its environment.
  var ofScripts: LuaTable?
  /// The tables that modules returned, by name. Scripts may see proxies of these.
  var tables: [String: LuaTable] = [:]
  /// The names of the modules being loaded, each required by the previous.
  var loading: [String] = []
  /// The host type by which tables of scopes hold their reader.
  var scopeReader: LuaAnyHostType?
  /// The paths of module files that were read, in order.
  var files: [String] = []
  /// The names of modules that were not found in files, at most a thousand.
  var missing: Set<String> = []
  /// The table of host functions passed to shipped modules.
  var host: LuaTable?
}

/// The modules visible to a call of `require`: the shared modules and, in preset `compat`, the modules of the calling
/// script. For an extension, these are the extension's own modules.
///
/// Found by the environment of the calling function, which C determines from the call.
struct LuaModuleScope {
  /// Nil where shared modules are not visible.
  let shared: LuaTable?
  /// The globals of modules that belong to the script.
  var environment: LuaEnvironment?
  /// The modules of the script or the extension.
  var own: LuaTable?

  /// A module that was loaded before. Shared modules come first.
  func module(_ name: String) throws(LuaError) -> LuaValue? {
    for table in [shared, own] {
      guard let value = try table?.get(name) else { continue }
      if case .nil = value { continue }
      return value
    }
    return nil
  }
}

/// Scopes and published modules.
extension LuaState {
  /// The scope of shared modules only. For modules that the host loads.
  var sharedScope: LuaModuleScope { LuaModuleScope(shared: loaded.shared) }

  /// The scope of the calling script. In preset `compat`, a script gets its table of modules at its first call.
  func moduleScope(of call: borrowing LuaCall) throws(LuaError) -> LuaModuleScope {
    guard let scriptModules = loaded.ofScripts, mbl_frame_environment(call.frame) else { return sharedScope }
    let environment = try popTop()
    guard case .table(let table) = environment else { return sharedScope }
    var own = try scriptModules.get(environment).tableValue
    if own == nil {
      guard preset == .compat else { return sharedScope }
      let fresh = try self.table()
      try scriptModules.set(environment, to: .table(fresh))
      own = fresh
    }
    return LuaModuleScope(shared: loaded.shared, environment: LuaEnvironment(table: table), own: own)
  }

  /// The scopes of the scripts that loaded a module for themselves. Empty unless scripts have modules of their own.
  func scriptScopes(holding name: String) throws(LuaError) -> [LuaModuleScope] {
    guard let scriptModules = loaded.ofScripts else { return [] }
    var scopes: [LuaModuleScope] = []
    for (environment, own) in try scriptModules.pairs {
      guard case .table(let table) = environment, case .table(let own) = own else { continue }
      if case .nil = try own.get(name) { continue }
      // An extension's modules are read again together with the extension.
      let scope = LuaModuleScope(shared: nil, environment: LuaEnvironment(table: table), own: own)
      if try scope.reader != nil { continue }
      scopes.append(LuaModuleScope(shared: nil, environment: LuaEnvironment(table: table), own: own))
    }
    return scopes
  }

  /// Stores a loaded module as the result of later `require` calls. Returns the value for the caller of `require`.
  func publish(_ module: LuaLoadedModule, as name: String, in scope: LuaModuleScope) throws(LuaError) -> LuaValue {
    if module.isScripts {
      try scope.own?.set(name, to: module.value)
    } else {
      loaded.tables[name] = module.table
      try loaded.shared?.set(name, to: module.value)
    }
    return module.value
  }

  /// A table with weak keys. An entry vanishes with its key.
  package func weakTable() throws(LuaError) -> LuaTable {
    let weak = try table()
    // A dictionary of fields would be the first of its type in a process, and making its type would take a tenth of the
    // start.
    let metatable = try table(fields: 1)
    try metatable.set("__mode", to: "k")
    try weak.setMetatable(metatable)
    return weak
  }
}
