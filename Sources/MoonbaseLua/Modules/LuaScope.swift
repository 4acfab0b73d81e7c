import MoonbaseLuaShim

/// The source of a scope's modules: text by name, nil if there is none.
///
/// Made by the owner of an extension. Kept by the environment of the scope.
package final class LuaScopeReader {
  /// Returns the source and the path of its file.
  let read: (_ name: String) throws -> (source: LuaSource, path: String)?

  /// A reader that calls `read`.
  package init(_ read: @escaping (_ name: String) throws -> (source: LuaSource, path: String)?) { self.read = read }
}

/// The classes that scopes share read-only.
///
/// Scripts of one extension cannot change the classes of another.
package struct LuaScopeClasses {
  /// The proxies, by the tables of classes.
  let proxies: LuaTable
  /// The scope's own classes, by their tables.
  let own: LuaTable

  /// Classes with these proxies.
  package init(proxies: LuaTable, own: LuaTable) { (self.proxies, self.own) = (proxies, own) }
}

/// Environments of extensions.
extension LuaState {
  /// Creates the globals of an extension. In every preset they are those of a sandbox without files. The modules are
  /// the extension's own.
  ///
  /// Modules are cached for the life of the environment. A new scope reads its modules again.
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

  /// Registered once per state.
  private func scopeReaderType() throws(LuaError) -> LuaAnyHostType {
    if let known = loaded.scopeReader { return known }
    let type = LuaHostType<LuaScopeReader>("modules of a scope", interned: false)
    try register(type)
    loaded.scopeReader = type
    return type
  }
}

/// Extensions find their modules by a reader instead of folders.
extension LuaModuleScope {
  /// The reader of an extension's modules; nil for those of scripts.
  var reader: LuaScopeReader? {
    get throws(LuaError) {
      guard case .object(let object)? = try own?.get(1) else { return nil }
      return object.object as? LuaScopeReader
    }
  }
}
