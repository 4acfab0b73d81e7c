import MoonbaseLuaShim

/// A module that was loaded just now.
struct LuaLoadedModule {
  /// The value that `require` gives.
  var value: LuaValue
  /// The table that the module returned, behind a frozen one.
  var table: LuaTable?
  /// Whether the module belongs to one script, whose globals it shares.
  var isScripts = false
}

/// The modules that a state has loaded.
struct LuaLoadedModules {
  /// The modules of all scripts, by name.
  var shared: LuaTable?
  /// In preset `compat`: the modules of each script, by its environment.
  var ofScripts: LuaTable?
  /// The tables that modules returned, by name. Scripts may see proxies of them.
  var tables: [String: LuaTable] = [:]
  /// The names of the modules that are being loaded, each required by the one before it.
  var loading: [String] = []
  /// The type by which the tables of scopes hold where their modules come from.
  var scopeReader: LuaAnyHostType?
  /// The paths of files that modules were read from, in the order in which they came.
  var files: [String] = []
  /// The names of modules that were looked for in files and not found, a thousand at most.
  var missing: Set<String> = []
  /// The table of functions that modules on board are given.
  var host: LuaTable?
}

/// The modules that one call of `require` sees: the modules of all scripts and, in preset `compat`, the modules of the
/// calling script. For an extension, these are the extension's own modules.
struct LuaModuleScope {
  let shared: LuaTable?
  var environment: LuaEnvironment?
  var own: LuaTable?

  /// A module that was loaded before.
  func module(_ name: String) throws(LuaError) -> LuaValue? {
    for table in [shared, own] {
      guard let value = try table?.get(name) else { continue }
      if case .nil = value { continue }
      return value
    }
    return nil
  }
}

extension LuaState {
  /// The scope without a script of its own.
  var sharedScope: LuaModuleScope { LuaModuleScope(shared: loaded.shared) }

  /// The scope of the script that calls.
  func moduleScope(of call: borrowing LuaCall) throws(LuaError) -> LuaModuleScope {
    guard let scriptModules = loaded.ofScripts, mbl_frame_environment(call.frame) else { return sharedScope }
    let environment = try takeTop()
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

  /// The scopes of the scripts that loaded a module for themselves.
  func scriptScopes(holding name: String) throws(LuaError) -> [LuaModuleScope] {
    guard let scriptModules = loaded.ofScripts else { return [] }
    var scopes: [LuaModuleScope] = []
    for (environment, own) in try scriptModules.pairs {
      guard case .table(let table) = environment, case .table(let own) = own else { continue }
      if case .nil = try own.get(name) { continue }
      // An extension's modules are read anew with it.
      let scope = LuaModuleScope(shared: nil, environment: LuaEnvironment(table: table), own: own)
      if try scope.reader != nil { continue }
      scopes.append(LuaModuleScope(shared: nil, environment: LuaEnvironment(table: table), own: own))
    }
    return scopes
  }

  /// Keeps a loaded module, so that `require` gives it from now on.
  func publish(_ module: LuaLoadedModule, as name: String, in scope: LuaModuleScope) throws(LuaError) -> LuaValue {
    if module.isScripts {
      try scope.own?.set(name, to: module.value)
    } else {
      loaded.tables[name] = module.table
      try loaded.shared?.set(name, to: module.value)
    }
    return module.value
  }

  /// A table that does not keep its keys alive.
  package func weakTable() throws(LuaError) -> LuaTable {
    let weak = try table()
    // A dictionary of fields would be the first of its kind in a process: to make its type would take a tenth of the start.
    let metatable = try table(fields: 1)
    try metatable.set("__mode", to: "k")
    try weak.setMetatable(metatable)
    return weak
  }
}
