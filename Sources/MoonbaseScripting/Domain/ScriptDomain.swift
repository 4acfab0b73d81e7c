public import MoonbaseGraph
public import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// A Lua state with its knowledge of the graph: host types for objects and values, classes, and the contexts that its
/// scripts use.
///
/// Each executor has its own domain, shared by a context, its extensions and the script that uses them.
///
/// ```swift
/// let domain = try ScriptDomain()
/// let context = ManagedObjectContext(coordinator, extensionRegistry: try extensions.makeRegistry(in: domain))
/// try domain.setContext(context)
/// _ = try domain.state.load("moonbase.context:insert('Person')", name: "example")()
/// ```
///
/// A domain belongs to one thread at a time and has no lock. The contexts of its scripts and the domain retain each
/// other until `close()`. Most functions lie in extensions: `+Values` converts, `+Moonbase` makes the global
/// `moonbase`, `+Model` describes the model, `+Open` opens containers, `+Extensions` lists loaded extensions.
public final class ScriptDomain {
  /// The Lua state.
  public let state: LuaState
  /// The number by which opaque values identify their domain. Unique within the process. A token of another domain is
  /// refused by this number.
  let number: UInt64
  /// The types of host objects in the state.
  let types: HostTypes
  /// Registered classes of values, which scripts see as `moonbase.classes`.
  let classes: LuaTable
  /// The running extension files, by the extensions that loaded them. Keyed by the identity of the `ScriptExtensions`.
  private var loaded: [ObjectIdentifier: LoadedExtensions] = [:]
  /// The providers of these files.
  private var providers: [ObjectIdentifier: (extensions: WeakExtensions, provided: Provided)] = [:]
  /// The table that scripts see as `moonbase`.
  var moonbase: LuaTable
  /// The proxies through which extensions see the classes of other extensions, by the tables of the classes. A proxy
  /// lets other extensions call a class and not change it.
  let classProxies: LuaTable
  /// The class names by metatable. Values made before a reload, or by the same extension opened again, keep their
  /// class. Metatables without values are collected.
  private let classNames: LuaTable
  /// The current classes, in registration order.
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
  /// The addresses of the class tables, which are faster to compare than tables are to look up.
  private var classAddresses: [(address: UnsafeRawPointer, name: String)] = []
  /// The model that scripts see as `moonbase.model`.
  var model: ResolvedModel?
  /// The metatables of tables of `moonbase.model`, by subject. They report misspelt names.
  var infoMetatables: [String: LuaTable] = [:]
  /// The freezers of lists and maps, by the names of their attributes.
  var freezers: [String: LuaFreezer] = [:]
  /// Whether a script accessed a context or a model without one being set.
  var foundNoContext = false
  /// A failed save or transaction, or an error of a `did_save` hook, that no script has read yet.
  var unseenFailure: UnseenFailure?
  /// Whether a prompt ends undo steps after each input, in the context from the host.
  var groupsUndoByInput = false
  /// Whether the run ended in a hook after a save, whose data is saved.
  var endedBehindSave = false
  /// The jobs that scripts began on other threads.
  var jobs: [ScriptJob] = []
  /// The job that runs this domain's script.
  weak var job: ScriptJob?
  /// The error with which an observer ended the run. The call that caused the event raises it.
  var endOfRun: (any Error)?
  /// The number of objects that a failed save left unsaved, after a script read the error.
  var unsavedOfSeenFailure: Int?
  /// The contexts that scripts of this domain work with.
  let contexts: ScriptContexts
  /// Whether a warning about a predicate with SQL wildcards was logged.
  var hasToldOfPattern = false
  /// The bytes of the names in models that scripts opened or tried to open.
  var namesWeight = 0

  /// The program's types, by the names that classes use for them.
  var swiftTypes: [String: any (Decodable & Sendable).Type] = [:]
  /// The thread on which the last value of a class was passed to the graph. Nil before the first value. `ScriptDomains`
  /// uses the thread to refuse decoding elsewhere.
  private var threadOfValues: UInt?

  /// Receives the messages that scripts log. By default each is written to standard error as a line.
  public var log: (ScriptLogEntry) -> Void = ScriptLogEntry.writeToStandardError

  /// Configures every context that this domain makes; nil leaves contexts unchanged.
  public var prepareContext: ((ManagedObjectContext) -> Void)?

  /// The Lua values that the graph holds as tokens.
  private var opaqueValues = OpaqueValues()

  /// The source of `number`.
  private static let counter = Lock(UInt64(0))

  /// A domain with its own Lua state.
  ///
  /// The global `moonbase` exists afterwards, without a context. Throws `LuaError` of kind `memory` if the libraries
  /// exceed the memory limit.
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

  /// The domain of a context that a script uses or extends; nil for other contexts.
  public static func of(_ context: ManagedObjectContext) -> ScriptDomain? {
    context.extensionRegistry.owner as? ScriptDomain
  }

  // MARK: Reload

  /// The extension files that run in this domain, in order.
  func loaded(of extensions: ScriptExtensions) -> LoadedExtensions { loaded[ObjectIdentifier(extensions)] ?? [] }

  /// Replaces the files that run here; an empty list forgets the extensions.
  func setLoaded(_ files: LoadedExtensions, of extensions: ScriptExtensions) {
    loaded[ObjectIdentifier(extensions)] = files.isEmpty ? nil : files
  }

  /// The methods and modules that extensions provide.
  struct Provided {
    /// The names of the methods of objects, from files and Swift code.
    var methods: Set<String>
    /// The modules that the files require.
    var modules: ExtensionModules
  }

  /// Nil for extensions that are not loaded in this domain.
  func provided(by extensions: ScriptExtensions) -> Provided? { providers[ObjectIdentifier(extensions)]?.provided }

  /// Sets what extensions provide, or forgets it with nil.
  func setProvided(_ provided: Provided?, by extensions: ScriptExtensions) {
    providers[ObjectIdentifier(extensions)] = provided.map { (WeakExtensions(extensions), $0) }
  }

  /// The names under which the extension files and their modules appear in stack frames. A traceback uses them to tell
  /// calls of extensions from calls of the script.
  var namesOfExtensionSources: Set<String> {
    let files = loaded.values.joined().map(\.source)
    let modules = providers.values.flatMap { $0.provided.modules.names }
    return Set((files + modules).map(LuaSource.nameInFrames))
  }

  /// The extensions loaded from files. Sorted by file, then by name.
  var loadedExtensions: [LoadedExtension] {
    providers.values.compactMap(\.extensions.extensions).flatMap(\.loaded).sorted {
      ($0.source, $0.name) < ($1.source, $1.name)
    }
  }

  /// Whether an extension provides a method with this name.
  func knowsMethod(_ name: String) -> Bool { providers.values.contains { $0.provided.methods.contains(name) } }

  /// The names of all methods that extensions provide.
  var namesOfMethods: [String] { Set(providers.values.flatMap(\.provided.methods)).sorted() }

  // MARK: Classes

  /// Registers all of the classes, or none if it throws.
  ///
  /// A class is a metatable with functions; its values are tables with this metatable. `moonbase.classes` lists them by
  /// name.
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

  /// Restores the former classes. A name that did not exist before is removed. Called when a reload fails after the
  /// registration.
  func restore(classes former: [(name: String, value: LuaTable)]) {
    for (name, _) in currentClasses where !former.contains(where: { $0.name == name }) {
      try? classes.set(name, to: .nil)
    }
    // Setting an existing field needs no memory.
    for (name, value) in former { try? classes.set(name, to: .table(value)) }
    currentClasses = former
  }

  /// Registers one class, replacing a class of this name. Values of the former class keep their name.
  func register(class name: String, methods value: LuaTable) throws {
    if try classNames.get(.table(value)).textValue == nil { try classNames.set(.table(value), to: .text(name)) }
    if let place = currentClasses.firstIndex(where: { $0.name == name }) {
      currentClasses[place].value = value
    } else {
      currentClasses.append((name, value))
    }
    try classes.set(name, to: .table(value))
  }

  /// The name of a table's registered class, determined by its metatable.
  ///
  /// Four tests follow each other, cheapest first: the address of the metatable, the registered metatables, the
  /// metatable shown by a shipped class, and the function `is` of each class. Nil for a table without a class.
  func className(of table: LuaTable) throws -> String? {
    guard !currentClasses.isEmpty, let address = try table.metatableAddress else { return nil }
    if let known = classAddresses.first(where: { $0.address == address }) { return known.name }
    guard let metatable = try table.metatable else { return nil }
    if let known = try classNames.get(.table(metatable)).textValue { return known }
    // The shipped classes hide their metatable behind a frozen table.
    if case .table(let shown) = try metatable.get("__metatable"),
      let known = try classNames.get(.table(shown)).textValue
    {
      return known
    }
    return try currentClasses.first { try Self.isOne(table, of: $0.value, name: $0.name) }?.name
  }

  /// Whether a table is a value of a registered class; nil for an unknown class.
  ///
  /// Throws `.invalidRequest` if the function `is` of the class returns no boolean.
  func contains(_ table: LuaTable, inClass name: String) throws -> Bool? {
    guard let value = currentClasses.first(where: { $0.name == name })?.value else { return nil }
    return try className(of: table) == name || Self.isOne(table, of: value, name: name)
  }

  /// Whether a class with a function `is` recognises the table as its value.
  ///
  /// Throws `.invalidRequest` if `is` returns no boolean.
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

  /// A token for a Lua value that the graph holds as opaque.
  ///
  /// The value stays alive as long as the token. The first token of a thread registers the domain for decoding in Swift
  /// (`Value.decode()`).
  func opaque(_ value: LuaValue, className: String) -> OpaqueObject {
    let thread = CurrentThread.number
    if threadOfValues != thread {
      ScriptDomains.add(self, on: thread)
      threadOfValues = thread
    }
    return opaqueValues.token(for: value, className: className, domain: number)
  }

  /// The Lua value behind a token of this domain. Throws `.invalidValue` for a token of another domain, because Lua
  /// values cannot cross states.
  func resolve(_ object: OpaqueObject) throws -> LuaValue {
    guard object.domain == number, let value = opaqueValues.value(at: object.reference) else {
      throw ScriptError(
        .invalidValue,
        message: "\(object.className.withArticle) of another context cannot be used here: pass its stored form instead")
    }
    return value
  }
}

/// Extension files by the names of their extensions: the returned tables and the functions to call after a reload.
typealias LoadedExtensions = [(name: String, table: LuaTable, onReload: LuaFunction?, source: String)]

/// A weak reference to extensions.
private struct WeakExtensions {
  weak var extensions: ScriptExtensions?

  init(_ extensions: ScriptExtensions) { self.extensions = extensions }
}
