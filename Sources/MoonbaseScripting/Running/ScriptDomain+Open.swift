public import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

extension ScriptDomain {
  /// Provides `moonbase.open{ store =, model =, extensions =, read_only = }` to scripts.
  ///
  /// `store` is a path, or a table of paths by the configuration that each store holds.
  ///
  /// The result is `{ context, reload }`. A store is made if missing; it is not migrated. Call this before the first
  /// script runs.
  public func installOpen(_ opener: @escaping ContainerOpener) throws {
    let types = types
    try define("open", upTo: 1) { [unowned types] call in
      guard case .table(let options) = try call.value(0) else {
        let store = try call.value(0).textValue.map { "\"\($0)\"" } ?? "\"people.sqlite\""
        throw call.argumentError(
          0, problem: "a table is expected, as in moonbase.open{ store = \(store) }, got \(call.typeName(0))")
      }
      try call.return(.table(try types.openDomain().open(options, with: opener)))
    }
    try define("reload", upTo: 0) { [unowned types] _ in
      try types.openDomain().contexts.reload()
    }
  }

  /// Opens what a table describes. Unused contexts are released first, so that scripts may open any number of stores in
  /// turn.
  private func open(_ table: LuaTable, with opener: ContainerOpener) throws -> LuaTable {
    contexts.letGoOfUnused()
    // A context that reads nothing more would keep these pages.
    for context in contexts.all { context.copyRowsOfSparsePages() }
    let known = Symbol.weight
    defer { weighNames(since: known) }
    let context = try context(of: opener(containerDescription(table)))
    contexts.add(context, .opened(weight: Self.weight(ofOpened: context)))
    let box = types.context.box(context)
    let result = try state.table(["context": .object(types.context.handle(context))])
    try result.set(
      "reload",
      to: .function(
        try state.makeFunction { [unowned types] call in
          try call.refuse(from: 0)
          try types.openDomain().contexts.reload([box.live()])
        }))
    try checkNames(ofStore: result)
    return result
  }

  /// A context over an opened container whose extensions run in this domain's Lua state. Throws errors of the extension
  /// files.
  public func context(of container: StoreHandle) throws -> ManagedObjectContext {
    let context = ManagedObjectContext(
      container.coordinator, extensionRegistry: try container.extensions.makeRegistry(in: self))
    prepareContext?(context)
    return context
  }

  /// Releases the contexts. Contexts and domain retain each other, so their stores would stay open otherwise.
  ///
  /// Call this after the last script has run. Contexts that scripts opened cannot use extensions afterwards.
  public func close() {
    cancelJobs()
    contexts.releaseAllObjects()
    state.weigh(-namesWeight)
    namesWeight = 0
  }

  /// The bytes charged to a script for an opened context.
  private static func weight(ofOpened context: ManagedObjectContext) -> Int {
    let files = context.coordinator.persistentStores.count(where: { $0.url != nil })
    return 8192 + context.model.weight + files * storeWeight
  }

  /// Charges interned names of models, including those that could not be opened, because names stay in memory for the
  /// life of the process.
  private func weighNames(since known: Int) {
    let growth = Symbol.weight - known
    namesWeight += growth
    state.weigh(growth)
  }

  /// The measured memory of a store's connections and statements. In bytes, for each file.
  private static let storeWeight = 160 << 10

  /// Refuses a path that is too long for the system, before it is parsed.
  private static func checked(path: String) throws -> String {
    guard path.utf8.count >= PATH_MAX else { return path }
    throw ScriptError(
      .invalidRequest,
      message: "\(TextLimits.beginning(of: path)) cannot be opened: \(String(cString: strerror(ENAMETOOLONG)))"
        + " (\(path.utf8.count) bytes; \(PATH_MAX - 1) at most)")
  }

  /// The table as a description. Unknown keys and values of wrong types throw `.invalidExtension`.
  private func containerDescription(_ table: LuaTable) throws -> ContainerDescription {
    let reader = ScriptTableReader(table: table, source: ScriptSource(name: "moonbase.open", text: ""), path: [])
    try reader.check(["store", "model", "extensions", "read_only"])
    var description = ContainerDescription(
      model: try model(of: table), stores: try stores(reader),
      extensions: try (reader.strings("extensions") ?? []).map { try .path(Self.checked(path: $0)) })
    if try reader.boolean("read_only") == true { description.setReadOnly() }
    return description
  }

  /// The stores: a path, or paths by configuration. None means memory.
  private func stores(_ reader: ScriptTableReader) throws -> [PersistentStoreDescription] {
    switch try reader.table.get("store") {
    case .nil: return []
    case .table:
      guard let stores = try reader.table("store") else { return [] }
      return try stores.keys().map { configuration in
        let path = try Self.checked(path: stores.string(configuration) ?? "")
        return try Self.store(path, configuration: configuration)
      }
    case let value:
      guard let path = value.textValue else {
        throw ScriptError(
          .invalidRequest, message: "store is a path or a table of paths by configuration, not \(value.typePhrase)")
      }
      return [try Self.store(Self.checked(path: path))]
    }
  }

  /// A script migrates no store by opening it. Addresses of servers are refused, because grants concern paths.
  private static func store(_ path: String, configuration: String? = nil) throws -> PersistentStoreDescription {
    // Access to files is granted by their paths; nothing grants a script a server.
    guard !PersistentStoreDescription.isAddress(path) else {
      throw ScriptError(
        .invalidRequest,
        message:
          "moonbase.open opens files, and no store on a server: the program that runs the script opens it (--store ADDRESS)"
      )
    }
    var store = PersistentStoreDescription.sqlite(URL(literalPath: path), configuration: configuration)
    store.shouldMigrateStoreAutomatically = false
    return store
  }

  /// The model: a path, a table with the contents of a model file, or the model that the store keeps.
  private func model(of table: LuaTable) throws -> ContainerDescription.Model {
    switch try table.get("model") {
    case .nil: return .kept
    case .table(let model):
      let source = ScriptSource(name: "moonbase.open", text: "")
      let taker = ModelTreeTaker(lines: source.keyLines) { [unowned self] in try graphValue(from: $0) }
      // Keeps the memory charged until the model is made.
      return try withExtendedLifetime(taker) {
        .value(try ManagedObjectModel(tree: taker.tree(model), file: source.name))
      }
    case let other:
      guard let path = other.textValue else {
        throw ScriptError(.invalidRequest, message: "model is a path or a table, not \(other.typePhrase)")
      }
      return .file(URL(literalPath: try Self.checked(path: path)))
    }
  }
}
