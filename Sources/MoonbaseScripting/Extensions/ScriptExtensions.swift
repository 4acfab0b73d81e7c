public import MoonbaseGraph
public import MoonbaseLua
public import MoonbaseModel
import MoonbasePlatform

/// Extensions written in Lua and in Swift: every context gets a domain of its own in which the files have run.
///
/// The files are read when this is made and when `reload` is called; contexts made later, and those that adopt the new
/// generation, run what was read last.
///
/// ```swift
/// let extensions = try ScriptExtensions([.file(colorsURL)], for: model)
/// let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
/// let context = try ManagedObjectContext(coordinator, extensions: extensions)
/// ```
public final class ScriptExtensions: ExtensionProvider {
  /// The model with the transient attributes that the extensions add.
  public let model: ManagedObjectModel
  /// The same, resolved.
  public let resolvedModel: ResolvedModel

  struct Generation: Sendable {
    var sources: [ScriptSource]
    var functions: PureScriptFunctions?
  }

  private let sources: [ExtensionSource]
  private let closures: ClosureExtensions
  private let limits: LuaLimits
  private let base: ManagedObjectModel
  private let current: Lock<Generation>

  /// Reads and checks extension files against a model.
  ///
  /// Throws `ScriptError` with file and line for a file that cannot be read, does not run, has not the form of the contract
  /// or does not fit the model, and for two files that provide the same.
  public init(_ sources: [ExtensionSource], for model: ManagedObjectModel, limits: LuaLimits = LuaLimits()) throws {
    self.sources = sources
    closures = ExtensionSource.closures(of: sources)
    self.limits = limits
    base = model
    let loaded = try Self.load(sources, in: model, limits: limits)
    self.model = loaded.model
    resolvedModel = loaded.resolved
    current = Lock(loaded.generation)
  }

  // MARK: Loading

  /// A script may name a file any number of times, and all are read before anything else.
  private static func read(_ sources: [ExtensionSource], limits: LuaLimits) throws -> [ScriptSource] {
    var memory = HostMemory()
    var texts: [ScriptSource] = []
    for source in sources {
      try HostWork.charge(fileUnits)
      texts += try source.read(limit: limits.sourceSize)
      try memory.hold(texts.last?.text.utf8.count ?? 0)
    }
    return texts
  }

  /// What reading a file costs, in units of work.
  private static let fileUnits = 200

  private static func load(_ sources: [ExtensionSource], in model: ManagedObjectModel, limits: LuaLimits) throws -> (
    model: ManagedObjectModel, resolved: ResolvedModel, generation: Generation
  ) {
    let texts = try read(sources, limits: limits)
    let domain = try ScriptDomain(limits: limits)
    let declarations = try ExtensionOrder(try domain.declarations(of: texts)).sorted()
    let swift = ExtensionSource.closures(of: sources).makeDomain()
    var extended = model
    try extended.addDerivedAttributes(of: swift, declarations)
    let resolved = try extended.resolved()
    try ExtensionChecker(declarations: declarations, swift: swift, model: resolved).check()
    let ordered = declarations.map(\.source)
    let functions = PureScriptFunctions(declarations, beside: swift, sources: ordered, limits: limits)
    return (extended, resolved, Generation(sources: ordered, functions: functions))
  }

  /// Reads the files anew. What is running stays in place where one of them fails.
  ///
  /// A reload may change everything but the set of derived attributes that are not in the model, which is part of the
  /// model's shape. Contexts take the new generation with `adopt(in:)`.
  public func reload() throws {
    let loaded = try Self.load(sources, in: base, limits: limits)
    guard loaded.model == model else {
      throw ScriptError(
        .invalidExtension,
        message:
          "the reloaded extensions add, remove or retype derived attributes (\(Self.changes(from: model, to: loaded.model))): "
          + "open the store anew for that")
    }
    current.withLock { $0 = loaded.generation }
  }

  /// The first attributes that extensions add to one of two models and not, or otherwise, to the other.
  private static func changes(from old: ManagedObjectModel, to new: ManagedObjectModel) -> String {
    func added(to model: ManagedObjectModel) -> [String: AttributeType] {
      let names = model.entities.flatMap { entity in
        entity.attributes.filter(\.isAddedByExtension).map { ("\(entity.name).\($0.name)", $0.type) }
      }
      return Dictionary(names) { first, _ in first }
    }
    let (before, after) = (added(to: old), added(to: new))
    let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    return changed.prefix(3).joined(separator: ", ") + (changed.count > 3 ? ", …" : "")
  }

  // MARK: Domains

  /// Makes a domain with a Lua state of its own.
  public func makeDomain() throws -> ExtensionDomain {
    let scripts = try ScriptDomain(limits: limits)
    scripts.model = resolvedModel
    let domain = try makeDomain(in: scripts)
    // What the program itself fetches and changes in the context is not the extensions'.
    domain.weigh = scripts.state.weigherForRuns
    return domain
  }

  /// Makes a domain in the Lua state of a script.
  public func makeDomain(in scripts: ScriptDomain) throws -> ExtensionDomain {
    let domain = ExtensionDomain()
    domain.owner = scripts
    domain.provider = self
    if !current.withLock({ $0.sources.isEmpty }) { domain.hookName = \.inScriptSpelling }
    domain.weigh = scripts.state.weigher
    try fill(domain, in: scripts)
    return domain
  }

  /// Replaces what a context runs by the generation that was read last; on an error the context keeps what it has. Then the
  /// `on_reload` hooks run; an error of one leaves the new generation in place.
  public func adopt(in context: ManagedObjectContext) throws {
    guard let scripts = ScriptDomain.of(context) else { return }
    let old = scripts.reloadHooks
    try fill(context.domain, in: scripts)
    context.domain.didChange()
    for (name, hook) in scripts.reloadHooks {
      do {
        _ = try hook.call([old[name].map { .function($0) } ?? .nil])
      } catch {
        throw Self.failure(of: error, onReloadOf: name)
      }
    }
  }

  /// The error of a hook with the hook's name; one that ends the run stays as it is.
  private static func failure(of error: LuaError, onReloadOf name: String) -> any Error {
    if error.endsRun { return error }
    let code = (error.hostError as? GraphError)?.code ?? .extensionFailure
    return GraphError(code, message: "on_reload of extension \(name): \(error)", underlying: error)
  }

  private func fill(_ domain: ExtensionDomain, in scripts: ScriptDomain) throws {
    let generation = current.withLock { $0 }
    let declarations = try scripts.declarations(of: generation.sources)
    let builder = DomainBuilder(types: scripts.types, model: resolvedModel)
    let new = try builder.build(declarations, beside: closures.makeDomain())
    domain.transformers = new.transformers
    domain.valueClasses = new.valueClasses
    domain.attributeValueClasses = new.attributeValueClasses
    domain.extensions = new.extensions
    domain.pureFunctions = generation.functions
  }
}

extension ScriptDomain {
  /// Runs extension files, each in an environment of its own, and reads what they return.
  func declarations(of sources: [ScriptSource]) throws -> [ExtensionDeclaration] {
    try state.runNested { try sources.map(declaration) }
  }

  private func declaration(of source: ScriptSource) throws -> ExtensionDeclaration {
    if let folder = source.folderPath, !state.modules.rootPaths.contains(folder) {
      state.modules.rootPaths.append(folder)
    }
    let chunk = try state.load(source.text, name: source.name)
    return try ExtensionDeclaration(chunk.call([]), source: source)
  }
}
