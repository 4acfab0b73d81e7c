public import MoonbaseGraph
public import MoonbaseLua
public import MoonbaseModel
import MoonbasePlatform
import Synchronization

/// Extensions written in Lua and in Swift. The files run in each context's own domain.
///
/// The files are read on initialization and by `reload`. Contexts made later run the latest generation. Earlier
/// contexts adopt it at the next boundary of their work.
///
/// ```swift
/// let extensions = try ScriptExtensions([.file(colorsURL)], for: model)
/// let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
/// let context = try ManagedObjectContext(coordinator, extensions: extensions)
/// ```
///
/// The instance belongs to a container and is shared by its contexts, on any thread. Its state is a generation, which a
/// reload replaces as a whole; contexts hold their own generation until they adopt the latest one. Reading happens on
/// the calling thread and blocks it.
public final class ScriptExtensions: ExtensionProvider {
  /// The model of stores and coordinators. Attributes that only extensions declare are in the models of contexts
  /// (`ManagedObjectContext.model`).
  public let model: ManagedObjectModel
  /// The resolved `model`.
  public let resolvedModel: ResolvedModel

  /// The extensions of a reading.
  struct Generation: Sendable {
    /// The number of earlier readings.
    var number: Int
    /// The files in the order of application, followed by the built-in transformers that are needed.
    var sources: [ScriptSource]
    /// The pure attributes for stores; nil if there are none.
    var functions: PureScriptFunctions?
    /// The modules that the sources require, cached with the sources.
    var modules: ExtensionModules
    /// The model with the attributes that the extensions add.
    var model: ResolvedModel
    /// The loaded extensions.
    var listing: [LoadedExtension]
    /// The limits of the extensions that have limits.
    var standings: ExtensionStandings
  }

  /// The files, folders, texts and Swift code, as given. A reload reads them again.
  let sources: [ExtensionSource]
  /// The extensions in Swift.
  private let closures: ClosureExtensions
  /// The limits of the states that read the files and run them for Swift code.
  let limits: LuaLimits
  /// Records the cost of functions.
  private let profile: ExtensionProfile?
  /// The limits of extensions, by name, with the handler of excesses.
  private let policy: ExtensionPolicy
  /// Nil for the host's language.
  private let language: String?
  /// Receives log messages; nil writes them to standard error.
  let log: (@Sendable (ScriptLogEntry) -> Void)?
  /// Receives printed text; nil leaves the standard streams.
  private let printed: (@Sendable (String, Bool) -> Void)?
  /// Whether a script named the files. Reloads then read them with the script's permissions.
  let isUnlinked = UnlinkedPath.isRequired
  /// The latest generation that was read.
  let current: Lock<Generation>
  /// The number of the generation that contexts are to run.
  let announced = Atomic(0)
  /// The number last assigned to a generation.
  /// Numbers are given before reading, so that the later of two concurrent reloads wins.
  private let lastNumber = Lock(0)
  /// The modules of the last attempt to read the files, even if it failed.
  let triedModules = Lock<ExtensionModules?>(nil)
  /// The observers of reloads.
  let outcomes = ExtensionOutcomes()
  /// The observers through which contexts adopt a generation.
  let announcements = ExtensionOutcomes()

  /// Reads and checks extension files against a model.
  ///
  /// Throws `ScriptError` with file and line for a file that cannot be read, does not run, does not have the documented
  /// form or does not fit the model. Also throws it for two files with conflicting declarations.
  ///
  /// A profile measures the functions of the files. `language` is the language of rule messages, as `de-AT`; by default
  /// that of the environment or the system. `log` receives the log messages in contexts of Swift code, by default
  /// written to standard error; `printed` receives printed text.
  ///
  /// `extensionLimits` limits extensions, by their names or those of their files, whose sources have no limits.
  /// `onExceeding` receives each call that exceeds its limits, on the thread of the call. `fileGuard` restricts the
  /// granted files that extensions may open.
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

  /// The number of the latest generation: 0 at first, increased by each reload. Contexts adopt it later
  /// (`ManagedObjectContext.extensionGeneration`).
  public var generation: Int { current.withLock { $0.number } }

  /// The loaded extension files in order of application, with their costs.
  public var loaded: [LoadedExtension] {
    var (listing, standings) = current.withLock { ($0.listing, $0.standings) }
    for index in listing.indices { listing[index].disabledBecause = standings.named(listing[index].name)?.reason }
    return profile.map { profile in listing.map { $0.counted(by: profile) } } ?? listing
  }

  /// The names in messages of the extension files and of the modules required so far.
  package var namesOfFiles: [String] {
    current.withLock { now in now.sources.filter { $0.folderPath != nil }.map(\.name) + now.modules.names }
  }

  /// The extension files, and the files of the modules required so far.
  package var filesInUse: [String] {
    current.withLock { now in now.sources.filter { $0.folderPath != nil }.map(\.name) + now.modules.filesInUse }
  }

  /// Enables a disabled extension. Returns false if no disabled extension has this name.
  @discardableResult
  public func enable(_ name: String) -> Bool {
    guard let standing = current.withLock({ $0.standings.named(name) }), standing.reason != nil else { return false }
    standing.enable()
    return true
  }

  // MARK: Loading

  /// A script may list a file any number of times, so reading is charged. Reads the texts of all sources, in order.
  /// Throws `.cannotOpenFile`, and the errors of exceeded limits.
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

  /// The units of work charged for reading a file.
  private static let fileUnits = 200

  /// Reads and checks the extensions in a domain that is released afterwards.
  ///
  ///
  /// ~The steps follow each other: run the files, order them, add built-in transformers, add derived attributes to the
  /// model, check against the model, run the examples of transformers. `note` receives the modules before the first
  /// file runs, so that a watch knows them even if reading fails.
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
    var standings = try ExtensionStandings(of: texts, policy: policy)
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

  /// The model as stores use it. The check includes the added attributes, because fetch requests and fetched properties
  /// of the model may name them. `known` is the resolved model of an earlier generation, which stays, because stores
  /// hold it.
  private static func resolve(
    _ model: ManagedObjectModel, with added: [AddedAttribute], known: ResolvedModel?
  ) throws -> ResolvedModel {
    let whole = try model.with(added).resolved()
    if let known { return known }
    return added.isEmpty ? whole : try model.resolved(checkedAs: whole)
  }

  /// Reads the files again. If this fails, the running generation stays in place.
  ///
  /// A reload may change anything, including the derived attributes beside the model and their types. Each context
  /// adopts the new generation at the next boundary of its work: at the beginning of `perform`, of a fetch or of a
  /// save, and at the end of a save or of `processPendingChanges`. `ManagedObjectContext.reloadExtensions()` makes a
  /// context adopt it at once, and throws errors of adopting it.
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

  /// Reads the files again without notifying contexts.
  ///
  /// The new generation is current afterwards, but contexts follow only after `announce(_:)`. Throws the mistakes of
  /// the files, which then change nothing.
  func readAnew() throws -> ExtensionReload {
    let former = current.withLock { $0 }
    let number = lastNumber.withLock { number in
      number += 1
      return number
    }
    do {
      let loaded = try load(number: number) { modules in triedModules.withLock { $0 = modules } }
      // Another thread may have read a later generation in the meantime.
      current.withLock { if $0.number < number { $0 = loaded } }
      return ExtensionReload(from: former, to: loaded)
    } catch {
      lastNumber.withLock { if $0 == number { $0 -= 1 } }
      throw error
    }
  }

  /// Reads and checks the files. With the caller's permissions if a script named the files.
  func load(number: Int, noting note: (ExtensionModules) -> Void) throws -> Generation {
    try UnlinkedPath.$isRequired.withValue(isUnlinked) {
      try Self.load(
        sources, in: model, known: resolvedModel, number: number, limits: limits, profile: profile, policy: policy,
        printed: printed, noting: note)
    }
  }

  /// Makes the latest generation the one that contexts adopt. Observers are called on this thread.
  func announce(_ reload: ExtensionReload) {
    current.withLock { announced.store($0.number, ordering: .releasing) }
    announcements.tell(.reloaded(reload))
    outcomes.tell(.reloaded(reload))
  }

  // MARK: Domains

  /// A registry with its own domain and Lua state.
  ///
  /// For a context of Swift code. The domain lives as long as the registry.
  public func makeRegistry() throws -> ExtensionRegistry {
    let scripts = try ScriptError.telling { try ScriptDomain(limits: limits) }
    scripts.model = current.withLock { $0.model }
    if let log { scripts.log = log }
    if let printed { scripts.state.output = LuaOutput(textsTo: printed) }
    let domain = try makeRegistry(in: scripts)
    // Memory that the program itself uses in the context is not charged to the extensions.
    domain.weigh = scripts.state.weigherForRuns
    return domain
  }

  /// A registry in the domain of a script.
  ///
  /// Memory that objects of the context need counts against the script's limit.
  public func makeRegistry(in scripts: ScriptDomain) throws -> ExtensionRegistry {
    let domain = ExtensionRegistry()
    domain.owner = scripts
    (domain.provider, domain.reloaded) = (self, self)
    if !current.withLock({ $0.sources.isEmpty }) { domain.hookName = \.inScriptSpelling }
    domain.weigh = scripts.state.weigher
    try fill(domain, in: scripts)
    return domain
  }

  /// Runs the files of the latest generation in a domain and replaces the contents of a registry with their hooks. If a
  /// file fails, the registry stays as it was.
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
  /// An output that passes text to a closure. Invalid UTF-8 is replaced.
  fileprivate init(textsTo body: @escaping @Sendable (String, Bool) -> Void) {
    self.init { bytes, isError in body(String(decoding: bytes, as: UTF8.self), isError) }
  }
}

extension ScriptExtensions: Sequence {
  /// An iterator over the loaded extensions: `for loaded in container.extensions`.
  public func makeIterator() -> IndexingIterator<[LoadedExtension]> { loaded.makeIterator() }
}

extension ScriptDomain {
  /// Runs extension files, each in its own scope, and reads their results.
  ///
  /// Mistakes in the form of a file are added to `mistakes`, or thrown if that is nil.
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

  /// Runs the examples of transformers, in a domain used for nothing else. Throws an error that lists all failing
  /// examples.
  fileprivate func checkExamples(of declarations: [ExtensionDeclaration]) throws {
    guard declarations.contains(where: { $0.transformers.contains { !$0.examples.isEmpty } }) else { return }
    try ScriptError.telling {
      try register(declarations.flatMap(\.classes))
      let mistakes = ExtensionMistakes()
      try state.runNested { try TransformerExamples(in: self).check(declarations, mistakes) }
      try mistakes.finish(declarations.map(\.source.name))
    }
  }

  /// Runs one file: its environment with the granted files, its modules and its limits, then reads the returned table.
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
