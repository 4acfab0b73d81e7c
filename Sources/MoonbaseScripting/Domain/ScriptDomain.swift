public import MoonbaseGraph
public import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// One Lua state and what it knows of the graph: host types for objects and values, classes, and the contexts it drives.
///
/// There is one for each executor: a context, its extensions and the script that drives them share it.
///
/// ```swift
/// let domain = try ScriptDomain()
/// let context = ManagedObjectContext(coordinator, extensionRegistry: try extensions.makeRegistry(in: domain))
/// try domain.setContext(context)
/// _ = try domain.state.load("moonbase.context:insert('Person')", name: "example")()
/// ```
public final class ScriptDomain {
  /// The Lua state.
  public let state: LuaState
  /// The number by which opaque values name their domain.
  let number: UInt64
  let types: HostTypes
  /// Registered classes of values; scripts see them as `moonbase.classes`.
  let classes: LuaTable
  /// The extension files that run, by what brought them.
  private var loaded: [ObjectIdentifier: LoadedExtensions] = [:]
  /// The providers of these files.
  private var providers: [ObjectIdentifier: (extensions: WeakExtensions, provided: Provided)] = [:]
  /// The table that scripts see as `moonbase`.
  var moonbase: LuaTable
  /// The proxies through which extensions see the classes of other extensions, by the tables of the classes.
  let classProxies: LuaTable
  /// The names of classes of values by their metatables. Values made before a reload, or by the same extension opened again,
  /// keep their class; a metatable that no value has any more goes.
  private let classNames: LuaTable
  /// The classes as they are now, in the order they came.
  private(set) var currentClasses: [(name: String, value: LuaTable)] = [] {
    didSet {
      classAddresses = currentClasses.compactMap { known in
        guard let address = try? known.value.address, let name = try? classNames.get(.table(known.value)).textValue
        else {
          return nil
        }
        return (address, name)
      }
    }
  }
  /// Where they lie, which is quicker to compare than to look a table up.
  private var classAddresses: [(address: UnsafeRawPointer, name: String)] = []
  /// The model that scripts see as `moonbase.model`.
  var model: ResolvedModel?
  /// What tables of `moonbase.model` say to misspelt names, by what they describe.
  var infoMetatables: [String: LuaTable] = [:]
  /// The freezers of lists and maps, by the names of their attributes.
  var freezers: [String: LuaFreezer] = [:]
  /// Whether a script asked for a context or a model where there is none.
  var foundNoContext = false
  /// A failed save or transaction that no script has looked at yet, or an error of a `did_save` hook.
  var unseenFailure: UnseenFailure?
  /// Whether a prompt ends the steps of undo, input by input, in the context that the host gave.
  var groupsUndoByInput = false
  /// Whether the run ended in a hook behind a save: its data is saved.
  var endedBehindSave = false
  /// The jobs that scripts began on other threads.
  var jobs: [ScriptJob] = []
  /// The job that this domain's script is.
  weak var job: ScriptJob?
  /// The error with which an observer ended the run, until the call that caused the event raises it.
  var endOfRun: (any Error)?
  /// How many objects a failed save left unsaved that a script looked at: it knows of them.
  var unsavedOfSeenFailure: Int?
  /// The contexts that scripts of this domain work with.
  let contexts: ScriptContexts
  /// Whether a predicate with the wildcards of SQL was told of.
  var hasToldOfPattern = false
  /// The bytes of the names in models that scripts opened, or tried to.
  var namesWeight = 0

  /// Types of the program by the names by which classes name them.
  var swiftTypes: [String: any (Decodable & Sendable).Type] = [:]
  /// The thread on which the last value of a class was handed over.
  private var threadOfValues: UInt?

  /// Takes the messages that scripts log. The default writes a line to standard error for each.
  public var log: (ScriptLogEntry) -> Void = ScriptLogEntry.writeToStandardError

  /// Sets up every context that this domain makes; nil leaves contexts as they are made.
  public var prepareContext: ((ManagedObjectContext) -> Void)?

  private var opaqueValues = OpaqueValues()

  private static let counter = Lock(UInt64(0))

  /// Makes a domain with a Lua state of its own.
  public init(preset: LuaPreset = .standard, limits: LuaLimits = LuaLimits()) throws {
    state = try LuaState(preset: preset, limits: limits)
    number = Self.counter.withLock {
      $0 += 1
      return $0
    }
    classes = try state.table()
    classNames = try state.weakTable()
    classProxies = try state.table()
    moonbase = try state.table()
    types = HostTypes(state)
    contexts = ScriptContexts(types, in: state)
    types.domain = self
    state.errorMapper = { [unowned types] error, _ in types.domain?.luaError(error) }
    try installMoonbase()
  }

  deinit {
    types.domain = nil
    if threadOfValues != nil { ScriptDomains.remove(number) }
  }

  /// The domain of a context that a script drives or extends.
  public static func of(_ context: ManagedObjectContext) -> ScriptDomain? {
    context.extensionRegistry.owner as? ScriptDomain
  }

  // MARK: Reload

  /// The files of extensions that run here, in their order.
  func loaded(of extensions: ScriptExtensions) -> LoadedExtensions { loaded[ObjectIdentifier(extensions)] ?? [] }

  func setLoaded(_ files: LoadedExtensions, of extensions: ScriptExtensions) {
    loaded[ObjectIdentifier(extensions)] = files.isEmpty ? nil : files
  }

  /// Methods and modules of extensions, beside their files.
  struct Provided {
    /// The names of the methods that files and Swift code give to objects.
    var methods: Set<String>
    /// The modules that the files require.
    var modules: ExtensionModules
  }

  func provided(by extensions: ScriptExtensions) -> Provided? { providers[ObjectIdentifier(extensions)]?.provided }

  func setProvided(_ provided: Provided?, by extensions: ScriptExtensions) {
    providers[ObjectIdentifier(extensions)] = provided.map { (WeakExtensions(extensions), $0) }
  }

  /// The names that frames of calls have of the files of extensions, and of the modules that they require.
  var namesOfExtensionSources: Set<String> {
    let files = loaded.values.joined().map(\.source)
    let modules = providers.values.flatMap { $0.provided.modules.names }
    return Set((files + modules).map(LuaSource.nameInFrames))
  }

  /// The extensions in files that are loaded here.
  var loadedExtensions: [LoadedExtension] {
    providers.values.compactMap(\.extensions.extensions).flatMap(\.loaded).sorted {
      ($0.source, $0.name) < ($1.source, $1.name)
    }
  }

  /// Whether any extension here gives a method of a name to objects.
  func knowsMethod(_ name: String) -> Bool { providers.values.contains { $0.provided.methods.contains(name) } }

  /// The names of all methods that extensions here give to objects.
  var namesOfMethods: [String] { Set(providers.values.flatMap(\.provided.methods)).sorted() }

  // MARK: Classes

  /// Registers classes, or none of them.
  func register(_ new: [(name: String, value: LuaTable)]) throws {
    let former = currentClasses
    do {
      for (name, value) in new { try register(class: name, methods: value) }
      if !new.isEmpty { try renewProxies() }
    } catch {
      restore(classes: former)
      throw error
    }
  }

  /// The classes are again those that they were.
  func restore(classes former: [(name: String, value: LuaTable)]) {
    for (name, _) in currentClasses where !former.contains(where: { $0.name == name }) {
      try? classes.set(name, to: .nil)
    }
    // To set what is there already needs no memory.
    for (name, value) in former { try? classes.set(name, to: .table(value)) }
    currentClasses = former
  }

  func register(class name: String, methods value: LuaTable) throws {
    if try classNames.get(.table(value)).textValue == nil { try classNames.set(.table(value), to: .text(name)) }
    if let place = currentClasses.firstIndex(where: { $0.name == name }) {
      currentClasses[place].value = value
    } else {
      currentClasses.append((name, value))
    }
    try classes.set(name, to: .table(value))
  }

  /// The registered class of a table, by its metatable.
  func className(of table: LuaTable) throws -> String? {
    guard !currentClasses.isEmpty, let address = try table.metatableAddress else { return nil }
    if let known = classAddresses.first(where: { $0.address == address }) { return known.name }
    guard let metatable = try table.metatable else { return nil }
    if let known = try classNames.get(.table(metatable)).textValue { return known }
    // The shipped classes show a frozen table as their metatable.
    if case .table(let shown) = try metatable.get("__metatable"),
      let known = try classNames.get(.table(shown)).textValue
    {
      return known
    }
    return try currentClasses.first { try Self.isOne(table, of: $0.value, name: $0.name) }?.name
  }

  /// Whether a class that is known by its function `is` takes the table for one of its own.
  private static func isOne(_ table: LuaTable, of value: LuaTable, name: String) throws -> Bool {
    guard case .function(let test) = try value.get("is") else { return false }
    let results = try test.call([.table(table)])
    switch results.first {
    case .boolean(let answer)?: return answer
    case .nil?: return false
    default: throw test.noAnswer(ofClass: name, given: results.first?.typePhrase ?? "nothing")
    }
  }

  // MARK: Opaque values

  /// A token for a Lua value that the graph keeps without understanding it.
  func opaque(_ value: LuaValue, className: String) -> OpaqueObject {
    let thread = CurrentThread.number
    if threadOfValues != thread {
      ScriptDomains.add(self, on: thread)
      threadOfValues = thread
    }
    return opaqueValues.token(for: value, className: className, domain: number)
  }

  /// The Lua value behind a token of this domain.
  func resolve(_ object: OpaqueObject) throws -> LuaValue {
    guard object.domain == number, let value = opaqueValues.value(at: object.reference) else {
      throw ScriptError(
        .invalidValue,
        message: "\(object.className.withArticle) of another context cannot be used here: pass its stored form instead")
    }
    return value
  }
}

/// Extension files by the names of their extensions: the returned tables, and the functions that are called after a
/// reload.
typealias LoadedExtensions = [(name: String, table: LuaTable, onReload: LuaFunction?, source: String)]

/// Extensions that may be gone.
private struct WeakExtensions {
  weak var extensions: ScriptExtensions?

  init(_ extensions: ScriptExtensions) { self.extensions = extensions }
}
