import MoonbaseLuaShim

/// Where the modules of a scope come from: text by name, nil where there is none.
package final class LuaScopeReader {
  let read: (_ name: String) throws -> (source: LuaSource, path: String)?

  package init(_ read: @escaping (_ name: String) throws -> (source: LuaSource, path: String)?) { self.read = read }
}

/// The classes that scopes share without being able to change them.
package struct LuaScopeClasses {
  /// Proxies by the tables of classes.
  let proxies: LuaTable
  /// The classes that a scope provides itself, by their tables.
  let own: LuaTable

  package init(proxies: LuaTable, own: LuaTable) { (self.proxies, self.own) = (proxies, own) }
}

extension LuaState {
  /// Creates the globals of an extension. In every preset they are the globals of a sandbox without files. The modules
  /// are the extension's own.
  ///
  /// Modules are kept as long as the environment: a scope that is made anew reads its modules anew.
  package func scope(
    _ classes: LuaScopeClasses, reader: LuaScopeReader
  ) throws(LuaError) -> LuaEnvironment {
    let table = LuaTable(
      reference: try keep(
        mbl_scope_new(raw, classes.proxies.reference.index(in: self), classes.own.reference.index(in: self))))
    let modules = try self.table()
    try modules.set(1, to: .object(LuaObject(reader, as: try scopeReaderType())))
    let scopes = if let known = loaded.ofScripts { known } else { try weakTable() }
    loaded.ofScripts = scopes
    try scopes.set(.table(table), to: .table(modules))
    return LuaEnvironment(table: table)
  }

  private func scopeReaderType() throws(LuaError) -> LuaAnyHostType {
    if let known = loaded.scopeReader { return known }
    let type = LuaHostType<LuaScopeReader>("modules of a scope", interned: false)
    try register(type)
    loaded.scopeReader = type
    return type
  }
}

extension LuaModuleScope {
  /// Where the modules of an extension come from; nil for those of scripts.
  var reader: LuaScopeReader? {
    get throws(LuaError) {
      guard case .object(let object)? = try own?.get(1) else { return nil }
      return object.object as? LuaScopeReader
    }
  }
}
