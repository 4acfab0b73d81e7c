public import MoonbaseGraph
public import MoonbaseLua
public import MoonbaseModel
import MoonbasePlatform
import Synchronization

/// Extensions written in Lua and in Swift: every context gets a domain of its own in which the files have run.
///
/// The files are read when this is made and when `reload` is called. Contexts made later run the last generation.
/// Earlier contexts take it over at the next edge of their work.
///
/// ```swift
/// let extensions = try ScriptExtensions([.file(colorsURL)], for: model)
/// let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
/// let context = try ManagedObjectContext(coordinator, extensions: extensions)
/// ```
public final class ScriptExtensions: ExtensionProvider {
  /// The model that the extensions are for: what stores and coordinators are made with. Attributes that only extensions declare are in the
  /// models of contexts (`ManagedObjectContext.model`).
  public let model: ManagedObjectModel
  /// The same, resolved.
  public let resolvedModel: ResolvedModel

  /// What was read last.
  struct Generation: Sendable {
    /// How often something else was read before.
    var number: Int
    var sources: [ScriptSource]
    var functions: PureScriptFunctions?
    /// The modules that the sources require, as they were read with the sources.
    var modules: ExtensionModules
    /// The model with the attributes that the extensions add.
    var model: ResolvedModel
    /// The loaded extensions.
    var listing: [LoadedExtension]
    /// The limits of the extensions that have some.
    var standings: ExtensionStandings
  }

  let sources: [ExtensionSource]
  private let closures: ClosureExtensions
  let limits: LuaLimits
  private let profile: ExtensionProfile?
  private let policy: ExtensionPolicy
  private let language: String?
  let log: (@Sendable (ScriptLogEntry) -> Void)?
  private let printed: (@Sendable (String, Bool) -> Void)?
  /// Whether a script named the files, which are read anew as it was allowed to read them.
  let isUnlinked = UnlinkedPath.isRequired
  let current: Lock<Generation>
  /// The number of the generation that contexts are to run.
  let announced = Atomic(0)
  /// The number that was given to a generation last.
  private let lastNumber = Lock(0)
  /// The modules of the last attempt to read the files, be it that it failed.
  let triedModules = Lock<ExtensionModules?>(nil)
  /// The observers of reloads.
  let outcomes = ExtensionOutcomes()
  /// The observers that make contexts follow.
  let announcements = ExtensionOutcomes()

  /// Reads and checks extension files against a model.
  ///
  /// Throws `ScriptError` with file and line for a file that cannot be read, does not run, has not the form of the contract
  /// or does not fit the model, and for two files that provide the same.
  ///
  /// With a profile the functions of the files are measured. The language is the one in which rules tell what is wrong,
  /// as `de-AT`; without one it is that of the environment or the system. `log` takes what they log in
  /// contexts of Swift code; without it standard error does. `printed` takes what they print there.
  ///
  /// `extensionLimits` limits extensions by their names, or those of their files, where their sources have no limits.
  /// `onExceeding` receives each call that exceeds them, on the thread of the call. `fileGuard` keeps extensions from
  /// some of the files that are granted to them.
  public init(
    _ sources: [ExtensionSource], for model: ManagedObjectModel, limits: LuaLimits = LuaLimits(),
    profile: ExtensionProfile? = nil, language: String? = nil, log: (@Sendable (ScriptLogEntry) -> Void)? = nil,
    printed: (@Sendable (_ text: String, _ isError: Bool) -> Void)? = nil,
    extensionLimits: [String: ExtensionLimits] = [:], onExceeding: (@Sendable (ExtensionExcess) -> Void)? = nil,
    fileGuard: (any LuaFileGuard)? = nil
  ) throws {
    self.sources = sources
    (self.log, self.printed) = (log, printed)
    self.language = language
    self.profile = profile
    closures = ExtensionSource.closures(of: sources)
    self.limits = limits
    self.model = model
    policy = ExtensionPolicy(limits: extensionLimits, report: onExceeding, fileGuard: fileGuard)
    let loaded = try Self.load(
      sources, in: model, known: nil, number: 0, limits: limits, profile: profile, policy: policy, printed: printed
    ) { _ in }
    resolvedModel = loaded.model.base ?? loaded.model
    current = Lock(loaded)
  }

  /// The number of the generation that was read last: 0 at first, and one more with each reload. Contexts follow
  /// (`ManagedObjectContext.extensionGeneration`).
  public var generation: Int { current.withLock { $0.number } }

  /// The extensions in files that are loaded, in the order in which they apply, and what they cost.
  public var loaded: [LoadedExtension] {
    var (listing, standings) = current.withLock { ($0.listing, $0.standings) }
    for index in listing.indices { listing[index].disabledBecause = standings.named(listing[index].name)?.reason }
    return profile.map { profile in listing.map { $0.counted(by: profile) } } ?? listing
  }

  /// The names that the extensions' files, and the modules that they required so far, have in messages.
  package var namesOfFiles: [String] {
    current.withLock { now in now.sources.filter { $0.folderPath != nil }.map(\.name) + now.modules.names }
  }

  /// The files of the extensions, and those of the modules that they required so far.
  package var filesInUse: [String] {
    current.withLock { now in now.sources.filter { $0.folderPath != nil }.map(\.name) + now.modules.filesInUse }
  }

  /// Lets an extension that is disabled go on; false where none of that name is.
  @discardableResult
  public func enable(_ name: String) -> Bool {
    guard let standing = current.withLock({ $0.standings.named(name) }), standing.reason != nil else { return false }
    standing.enable()
    return true
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

  private static func load(
    _ sources: [ExtensionSource], in model: ManagedObjectModel, known: ResolvedModel?, number: Int, limits: LuaLimits,
    profile: ExtensionProfile?, policy: ExtensionPolicy, printed: (@Sendable (String, Bool) -> Void)?,
    noting note: (ExtensionModules) -> Void
  ) throws -> Generation {
    let texts = try read(sources, limits: limits)
    let domain = try ScriptError.telling { try ScriptDomain(limits: limits) }
    if let printed { domain.state.output = LuaOutput(textsTo: printed) }
    let modules = ExtensionModules(of: texts, limit: limits.sourceSize)
    note(modules)
    let mistakes = ExtensionMistakes()
    var standings = ExtensionStandings(of: texts, policy: policy)
    var declarations = try ExtensionOrder(
      domain.declarations(of: texts, modules, standings: standings, mistakes: mistakes), mistakes: mistakes
    ).sorted()
    standings = try standings.naming(declarations, policy: policy)
    let swift = ExtensionSource.closures(of: sources).makeRegistry()
    let readyMade = ReadyMadeTransformers.needed(by: declarations, beside: swift, in: model)
    if let source = ReadyMadeTransformers.source(of: readyMade) {
      declarations += try domain.declarations(of: [source], modules)
    }
    let added = AddedAttributes(to: model, by: swift, declarations, mistakes: mistakes).all
    let extended = try mistakes.need {
      try resolve(model, with: added, known: known).adding(added, generation: number)
    }
    try ExtensionChecker(
      declarations: declarations, swift: swift, model: extended, hostMethods: domain.types.objectMethods.map(\.name),
      swiftTypes: ExtensionSource.types(of: sources).keys.sorted(), mistakes: mistakes
    ).check()
    try mistakes.finish(texts.map(\.name))
    try domain.checkExamples(of: declarations)
    let ordered = declarations.map(\.source)
    let functions = PureScriptFunctions(
      declarations, beside: swift, sources: ordered, modules: modules, limits: limits, profile: profile,
      standings: standings)
    return Generation(
      number: number, sources: ordered, functions: functions, modules: modules, model: extended,
      listing: declarations.map { LoadedExtension($0) }, standings: standings)
  }

  /// The model as stores have it. With what extensions add it is checked as a whole: its fetch requests and fetched properties may name that.
  private static func resolve(
    _ model: ManagedObjectModel, with added: [AddedAttribute], known: ResolvedModel?
  ) throws -> ResolvedModel {
    let whole = try model.with(added).resolved()
    if let known { return known }
    return added.isEmpty ? whole : try model.resolved(checkedAs: whole)
  }

  /// Reads the files anew. What is running stays in place where one of them fails.
  ///
  /// A reload may change everything, also which derived attributes there are beside the model, and of which types. Each
  /// context takes over what was read at the next edge of its work: where `perform` begins, where a fetch or a save
  /// begins, and where a save or `processPendingChanges` ends. `ManagedObjectContext.reloadExtensions()` has it take that over at once, and throws
  /// what goes wrong with it.
  @discardableResult
  public func reload() throws -> ExtensionReload {
    do {
      let reload = try readAnew()
      announce(reload)
      return reload
    } catch {
      outcomes.tell(.failed(error))
      throw error
    }
  }

  /// Reads the files anew, and tells no context.
  func readAnew() throws -> ExtensionReload {
    let former = current.withLock { $0 }
    let number = lastNumber.withLock { number in
      number += 1
      return number
    }
    do {
      let loaded = try load(number: number) { modules in triedModules.withLock { $0 = modules } }
      // Another thread may have read them later than this one.
      current.withLock { if $0.number < number { $0 = loaded } }
      return ExtensionReload(from: former, to: loaded)
    } catch {
      lastNumber.withLock { if $0 == number { $0 -= 1 } }
      throw error
    }
  }

  /// Reads and checks the files.
  func load(number: Int, noting note: (ExtensionModules) -> Void) throws -> Generation {
    try UnlinkedPath.$isRequired.withValue(isUnlinked) {
      try Self.load(
        sources, in: model, known: resolvedModel, number: number, limits: limits, profile: profile, policy: policy,
        printed: printed, noting: note)
    }
  }

  /// Contexts are to run what was read last.
  func announce(_ reload: ExtensionReload) {
    current.withLock { announced.store($0.number, ordering: .releasing) }
    announcements.tell(.reloaded(reload))
    outcomes.tell(.reloaded(reload))
  }

  // MARK: Domains

  /// Makes a domain with a Lua state of its own.
  public func makeRegistry() throws -> ExtensionRegistry {
    let scripts = try ScriptError.telling { try ScriptDomain(limits: limits) }
    scripts.model = current.withLock { $0.model }
    if let log { scripts.log = log }
    if let printed { scripts.state.output = LuaOutput(textsTo: printed) }
    let domain = try makeRegistry(in: scripts)
    // What the program itself fetches and changes in the context is not the extensions'.
    domain.weigh = scripts.state.weigherForRuns
    return domain
  }

  /// Makes a domain in the Lua state of a script.
  public func makeRegistry(in scripts: ScriptDomain) throws -> ExtensionRegistry {
    let domain = ExtensionRegistry()
    domain.owner = scripts
    (domain.provider, domain.reloaded) = (self, self)
    if !current.withLock({ $0.sources.isEmpty }) { domain.hookName = \.inScriptSpelling }
    domain.weigh = scripts.state.weigher
    try fill(domain, in: scripts)
    return domain
  }

  func fill(_ domain: ExtensionRegistry, in scripts: ScriptDomain) throws {
    let generation = current.withLock { $0 }
    let declarations = try scripts.declarations(
      of: generation.sources, generation.modules, standings: generation.standings)
    let builder = DomainBuilder(
      types: scripts.types, model: generation.model, profile: profile, standings: generation.standings,
      language: language)
    let new = try builder.build(declarations, beside: closures.makeRegistry())
    try scripts.register(declarations.flatMap(\.classes))
    let files: LoadedExtensions = declarations.map {
      ($0.name ?? $0.source.name, $0.table, $0.onReload, $0.source.name)
    }
    scripts.setLoaded(files, of: self)
    scripts.swiftTypes.merge(ExtensionSource.types(of: sources)) { _, later in later }
    let methods = Set(new.extensions.values.joined().flatMap(\.methods.keys))
    scripts.setProvided(.init(methods: methods, modules: generation.modules), by: self)
    domain.transformers = new.transformers
    domain.valueClasses = new.valueClasses
    domain.attributeValueClasses = new.attributeValueClasses
    domain.extensions = new.extensions
    domain.pureFunctions = generation.functions
    domain.versions = generation.versions
    (domain.knownModel, domain.knownGeneration) = (generation.model, generation.number)
  }
}

extension LuaOutput {
  /// Gives texts to a closure, byte for byte but for what is no UTF-8.
  fileprivate init(textsTo body: @escaping @Sendable (String, Bool) -> Void) {
    self.init { bytes, isError in body(String(decoding: bytes, as: UTF8.self), isError) }
  }
}

extension ScriptExtensions: Sequence {
  /// The extensions that are loaded: `for loaded in container.extensions`.
  public func makeIterator() -> IndexingIterator<[LoadedExtension]> { loaded.makeIterator() }
}

extension ScriptDomain {
  /// Runs extension files, each in a scope of its own, and reads what they return.
  ///
  /// A mistake in the form of a file goes to `mistakes`; without that it is thrown.
  func declarations(
    of sources: [ScriptSource], _ modules: ExtensionModules, standings: ExtensionStandings = .none,
    mistakes: ExtensionMistakes? = nil
  ) throws -> [ExtensionDeclaration] {
    let found = mistakes ?? ExtensionMistakes()
    let declarations = try ScriptError.telling {
      try state.runNested { try sources.map { try declaration(of: $0, modules, standings, mistakes: found) } }
    }
    if mistakes == nil { try found.finish(sources.map(\.name)) }
    return declarations
  }

  /// Runs the examples of transformers in a domain in which nothing else runs.
  fileprivate func checkExamples(of declarations: [ExtensionDeclaration]) throws {
    guard declarations.contains(where: { $0.transformers.contains { !$0.examples.isEmpty } }) else { return }
    try ScriptError.telling {
      try register(declarations.flatMap(\.classes))
      let mistakes = ExtensionMistakes()
      try state.runNested { try TransformerExamples(in: self).check(declarations, mistakes) }
      try mistakes.finish(declarations.map(\.source.name))
    }
  }

  private func declaration(
    of source: ScriptSource, _ modules: ExtensionModules, _ standings: ExtensionStandings,
    mistakes: ExtensionMistakes
  ) throws -> ExtensionDeclaration {
    let own = try state.weakTable()
    let scope = try extensionScope(reader: modules.reader(for: source), own: own)
    if var grants = source.grants {
      grants.isOfExtension = true
      try state.openFiles(grants, guardian: standings.fileGuard, in: scope)
    }
    let chunk = try state.load(source.text, name: source.name, in: scope)
    let isReadyMade = source.name == ReadyMadeTransformers.sourceName
    let arguments = isReadyMade ? try argumentsOfReadyMadeTransformers() : []
    let running = RunningExtension(source.name, profile: nil, standing: standings[source], in: state)
    let results = try running.within("its file") { try chunk.call(arguments) }
    let declaration = try ExtensionDeclaration(results, source: source, mistakes: mistakes)
    for (_, table) in declaration.classes { try own.set(.table(table), to: .boolean(true)) }
    return declaration
  }
}
