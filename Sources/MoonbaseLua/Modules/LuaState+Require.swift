import MoonbasePlatform

extension LuaState {
  /// `require` of sandboxed scripts; preset `trusted` keeps Lua's own and asks here first.
  func installRequire() throws(LuaError) {
    let own = preset == .trusted ? try global("package").tableValue?.get("loaded").tableValue : nil
    let loaded = if let own { own } else { try table() }
    let fallback = preset == .trusted ? try global("require").functionValue : nil
    let require = try function { call in
      let name = try call.text(0)
      let known = try loaded.get(name)
      if case .nil = known {
        let state = call.state
        if let library = try state.library(name) { return try call.return(library) }
        guard let value = try state.loadModule(name) else {
          if let fallback {
            for result in try fallback.call([.text(name)]) { try call.return(result) }
            return
          }
          throw state.missingModule(name)
        }
        try call.return(try state.publish(name, value))
      } else {
        try call.return(known)
      }
    }
    loadedModules = loaded
    try setGlobal("require", require)
  }

  /// The error of a module that is nowhere.
  func missingModule(_ name: String) -> LuaError {
    let full = "moonbase.\(name)"
    let isKnown = modules.entries[full] != nil || LuaFiles.module(full) != nil
    let hint = isKnown ? "; did you mean \(full)?" : ""
    let path = name.replacing(".", with: "/")
    let places = modules.rootPaths.map { root in "\n\tno file '\(root)/\(path).lua' or '\(root)/\(path)/init.lua'" }
    return LuaError(.module, "module '\(name)' not found\(hint)\(places.joined())")
  }

  /// A library of Lua's, as the preset has it; nil if the name is none.
  private func library(_ name: String) throws(LuaError) -> LuaValue? {
    guard preset != .trusted, Self.libraries.contains(name) else { return nil }
    let value = try global(name)
    if case .table = value { return value }
    return nil
  }

  private static let libraries: Set = ["string", "table", "math", "utf8", "coroutine", "os", "io", "debug"]

  /// The value of a module, loaded anew; nil if there is none of that name.
  func loadModule(_ name: String) throws -> LuaValue? {
    guard LuaModules.isName(name) else {
      if preset == .trusted { return nil }
      throw LuaError(.module, "'\(name)' is no module name (parts of letters, digits, _ and -, divided by dots)")
    }
    guard !loading.contains(name) else {
      throw LuaError(.module, "modules require each other: \((loading + [name]).joined(separator: " → "))")
    }
    loading.append(name)
    defer { loading.removeLast() }
    switch modules.entries[name] {
    case .loader(let loader): return try loader(self)
    case .source(let source, let frozen): return try runModule(name, source, frozen: frozen)
    case nil: if let value = try standardModule(name) { return value }
    }
    guard let file = modules.file(name) else { return nil }
    let source = LuaSource(bytes: Array(try Data(contentsOf: file)), name: file.lastPathComponent)
    return try runModule(name, source, frozen: false)
  }

  private func runModule(_ name: String, _ source: LuaSource, frozen: Bool) throws(LuaError) -> LuaValue {
    let value = try load(source).first(.text(name), .text(source.name))
    freshTables[name] = value.tableValue
    switch value {
    case .nil: return .boolean(true)
    case .table(let table) where frozen && preset != .trusted: return .table(try table.frozen())
    default: return value
    }
  }
}
