import MoonbasePlatform

/// The search for modules.
extension LuaState {
  /// Sets the global `require`. In preset `trusted` it searches the host's modules first and calls Lua's own `require`
  /// otherwise. Called once, when the state is opened.
  func installRequire() throws(LuaError) {
    let own = preset == .trusted ? try global("package").tableValue?.get("loaded").tableValue : nil
    let shared = if let own { own } else { try table() }
    let fallback = preset == .trusted ? try global("require").functionValue : nil
    let require = try function { call in
      let name = try call.name(0)
      let state = call.state
      let scope = try state.moduleScope(of: call)
      if let reader = try scope.reader {
        return try call.return(try state.require(name, for: scope, reader))
      }
      if let known = try scope.module(name) { return try call.return(known) }
      if let library = try state.library(name) { return try call.return(library) }
      if let value = try state.loadModule(name, for: scope) {
        return try call.return(try state.publish(value, as: name, in: scope))
      }
      guard let fallback else { throw state.missingModule(name) }
      for result in try fallback.call([.text(name)]) { try call.return(result) }
    }
    loaded.shared = shared
    if preset == .compat { loaded.ofScripts = try weakTable() }
    try setGlobal("require", to: require)
  }

  /// Loads a module for an extension: a shipped module, a module of the host, or else the extension's own. Shared
  /// modules are those without files; their tables are frozen.
  private func require(_ name: String, for scope: LuaModuleScope, _ reader: LuaScopeReader) throws -> LuaValue {
    if let own = try LuaModuleScope(shared: nil, own: scope.own).module(name) { return own }
    if Self.libraries.contains(name), case .table(let library)? = try scope.environment?.table.get(name) {
      return .table(library)
    }
    let isShared = modules.entries[name] != nil || isOnBoardWithoutFiles(name)
    let shared = LuaModuleScope(shared: loaded.shared)
    if isShared, let known = try shared.module(name) { return known }
    let place = isShared ? shared : scope
    guard let module = try loadModule(name, for: place, reader: reader) else {
      throw LuaError(.module, message: "module '\(name)' not found beside the extension\(advice(on: name))")
    }
    if isShared { return try publish(module, as: name, in: shared) }
    try scope.own?.set(name, to: module.value)
    return module.value
  }

  /// The paths of the files that `require` has read so far. In the order of reading.
  package var requiredFiles: [String] { loaded.files }

  /// The paths at which `require` looked for scripts' modules that were not there. A program that watches files can
  /// watch these, too.
  package var missingFiles: [String] {
    loaded.missing.flatMap { name in
      let path = name.replacing(".", with: "/")
      return modules.rootPaths.flatMap { ["\($0)/\(path).lua", "\($0)/\(path)/init.lua"] }
    }
  }

  /// The error for a module that was not found.
  func missingModule(_ name: String) -> LuaError {
    let path = name.replacing(".", with: "/")
    let places = modules.rootPaths.map { root in "\n\tno file '\(root)/\(path).lua' or '\(root)/\(path)/init.lua'" }
    return LuaError(.module, message: "module '\(name)' not found\(advice(on: name))\(places.joined())")
  }

  /// A suggestion for a missing module: the shipped module that is probably meant, whose `moonbase.` may be omitted.
  private func advice(on name: String) -> String {
    let prefix = "moonbase."
    let names = (LuaFiles.modules + modules.entries.keys).sorted()
    let own = names.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    let short = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    if let meant = own.contains(short) ? short : nearestName(to: short, among: own) {
      return "; did you mean \(prefix)\(meant)?"
    }
    return suggestion(for: name, among: names)
  }

  /// A standard library of Lua in the preset's version; nil for other names.
  private func library(_ name: String) throws(LuaError) -> LuaValue? {
    guard preset != .trusted, Self.libraries.contains(name) else { return nil }
    let value = try global(name)
    if case .table = value { return value }
    return nil
  }

  /// In every preset but `trusted` these names are the libraries of the preset.
  private static let libraries: Set = ["string", "table", "math", "utf8", "coroutine", "os", "io", "debug"]

  /// Loads a module; nil if no module has the name. Throws `.module` for an invalid name, for modules that require each
  /// other, and for a module without a value.
  func loadModule(
    _ name: String, for scope: LuaModuleScope, reader: LuaScopeReader? = nil
  ) throws -> LuaLoadedModule? {
    guard LuaModules.isName(name) else {
      if preset == .trusted { return nil }
      throw LuaError(
        .module, message: "'\(name.asName)' is no module name (parts of letters, digits, _ and -, divided by dots)")
    }
    guard !loaded.loading.contains(name) else {
      throw LuaError(
        .module, message: "modules require each other: \((loaded.loading + [name]).joined(separator: " → "))")
    }
    loaded.loading.append(name)
    defer { loaded.loading.removeLast() }
    switch modules.entries[name] {
    case .loader(let loader): return LuaLoadedModule(value: try loader(self))
    case .source(let source, let frozen): return try runModule(name, source: source, frozen: frozen, for: scope)
    case nil:
      let environment = reader == nil ? nil : scope.environment
      if let value = try standardModule(name, in: environment) { return LuaLoadedModule(value: value) }
    }
    if let reader {
      guard let found = try reader.read(name) else { return nil }
      if !loaded.files.contains(found.path) { loaded.files.append(found.path) }
      return try runModule(name, source: found.source, path: found.path, frozen: false, for: scope)
    }
    guard let file = modules.file(name) else {
      if loaded.missing.count < 1000 { loaded.missing.insert(name) }
      return nil
    }
    if modules.guardian?.refuses(path: file.path, writing: false) == true {
      throw LuaError(.module, message: LuaCall.guarded(file.name))
    }
    let source = try UnlinkedPath.$isRequired.withValue(true) {
      try LuaSource(path: file.path, name: file.name, limit: limits.sourceSize)
    }
    if !loaded.files.contains(file.path) { loaded.files.append(file.path) }
    return try runModule(name, source: source, path: file.path, frozen: false, for: scope)
  }

  /// A frozen module runs in an environment of its own.
  private func runModule(
    _ name: String, source: LuaSource, path: String? = nil, frozen: Bool, for scope: LuaModuleScope
  ) throws(LuaError) -> LuaLoadedModule {
    let environment = frozen ? nil : scope.environment
    // Plain Lua passes a module the path of its file. A sandboxed module must not learn about the machine.
    let place = preset == .trusted ? path ?? source.name : source.name
    let value = try load(source, in: environment).first(.text(name), .text(place))
    var module = LuaLoadedModule(value: value, table: value.tableValue, isScripts: environment != nil)
    switch value {
    case .nil:
      // No script sees the globals that the module sets, so the module would be useless.
      guard preset == .compat || preset == .trusted else {
        throw LuaError(.module, message: "module '\(name)' returns nothing: end it with return and what it gives")
      }
      module.value = .boolean(true)
    case .table(let table) where frozen && preset != .trusted: module.value = .table(try table.frozen())
    default: break
    }
    return module
  }
}
