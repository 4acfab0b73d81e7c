import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Runs scripts over `P` of `ThingBench` with limited extensions, each in a file of its own.
final class LimitBench {
  let extensions: ScriptExtensions
  let coordinator: PersistentStoreCoordinator
  /// The reports that the program received.
  var reports: [ExtensionExcess] { told.withLock { $0 } }

  private let told = Lock<[ExtensionExcess]>([])
  private let folder: TemporaryFolder

  init(_ kind: StoreKind, _ files: [String: (text: String, limits: ExtensionLimits?)]) throws {
    let model = try LuaModelFile().read(ScriptSource(name: "m.lua", text: ThingBench.model))
    let sources = files.sorted { $0.key < $1.key }.map { name, file in
      ExtensionSource.text(file.text, name: "\(name).lua", limits: file.limits)
    }
    let told = told
    extensions = try ScriptExtensions(
      sources, for: model, onExceeding: { excess in told.withLock { $0.append(excess) } })
    coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    folder = try TemporaryFolder()
    try coordinator.add(kind.store(for: extensions.resolvedModel, in: folder))
  }

  /// Runs a script in a domain that ends after 20 seconds, and returns its results as texts.
  func run(_ text: String, limits: LuaLimits = LuaLimits(deadline: .seconds(20))) throws -> [String?] {
    let domain = try ScriptDomain(limits: limits)
    domain.state.modules.rootPaths = [ScriptModuleTests.folder.path]
    defer { domain.close() }
    let context = try domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions))
    try domain.setContext(context)
    let script = """
      local context = moonbase.context
      -- The message and the code of a call that fails, in either way.
      local function failing(body)
        local done, result, err = pcall(body)
        if not done then err = result end
        if done and (result or not err) then return "no error" end
        return tostring(err), type(err) ~= "string" and err.code or nil
      end
      \(text)
      """
    return try domain.state.run {
      try domain.state.load(script, name: "s.lua")().map { $0.textValue ?? $0.integerValue.map { "\($0)" } }
    }
  }
}
