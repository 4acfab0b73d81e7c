import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// `moonbase each`: runs Lua for each object of an entity, and saves the changes in batches.
///
/// The function is applied by one statement of the store where that is equivalent
/// (`EachStatement`), otherwise by workers (`EachWork`, `EachWorker`).
struct EachCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "each", abstract: "Runs Lua for each object of an entity, and saves what it does.",
    discussion: """
      moonbase each Person --store people.sqlite --where 'age < 0' --do 'object.age = 0 - object.age'

      CODE sees the object as `object`, and `context`. FILE returns function(object, context). Objects are those that match at the start, each \
      once. What is done is saved every so many objects; an object that fails is told and left as it was, and the rest goes on.

      Exit status: 0 done, 4 done but for objects that failed, 1 failed, 3 a limit was exceeded, 75 the store is busy, 130 interrupted.
      """)

  @Argument(help: "The entity; objects of its subentities are visited too.", completion: .entities)
  var entity: String

  @Argument(help: "The store (default: that of the project); --store names it too.", completion: .file())
  var store: String?

  @Option(name: .customLong("do"), parsing: .unconditional, help: ArgumentHelp("Lua to run.", valueName: "code"))
  var code: String?

  @Option(
    help: ArgumentHelp("A Lua file that returns function(object, context).", valueName: "file"), completion: .file())
  var script: String?

  @OptionGroup var condition: ConditionOptionGroup

  @Option(help: "Save after so many objects (default: 1000).")
  var batch: Int?

  @Option(help: "So many workers, each with a Lua state of its own and the limits for itself (default: 1).")
  var jobs: Int?

  @Flag(help: "Save nothing: print before and after of the first ten objects that would be changed, and count.")
  var dryRun = false

  @OptionGroup var stores: WritingOptionGroup
  @OptionGroup var scripts: ScriptOptionGroup

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  /// Checks combinations of options and the ranges of numbers.
  func validate() throws {
    try EntityArgument.check(entity, store, command: "each")
    guard (code == nil) != (script == nil) else {
      throw ValidationError("name what is to be run: --do CODE or --script FILE, and one of them")
    }
    if let batch, !(1...Self.greatestBatch).contains(batch) {
      throw ValidationError("--batch takes a number from 1 to \(Self.greatestBatch), not \(batch)")
    }
    if let jobs, !(1...Self.greatestJobs).contains(jobs) {
      throw ValidationError("--jobs takes a number from 1 to \(Self.greatestJobs), not \(jobs)")
    }
  }

  /// The most workers.
  private static let greatestJobs = 256
  /// The most objects in a batch.
  private static let greatestBatch = 1_000_000
  /// The number of objects in a batch without an option.
  private static let usualBatch = 1000

  /// Opens the store, and runs the function for the objects.
  func run() throws {
    var stores = try stores.settings(store)
    try stores.requireStores()
    if dryRun { stores.readOnly = true }
    stores.cacheSize = StoreSettings.smallCacheSize
    let scripts = try scripts.settings()
    if !dryRun { try scripts.requireWriting("each") }
    let function = try EachFunction(code: code, file: script, limit: scripts.limits.sourceSize)
    let container = try PersistentContainer(scripts.limiting(stores.container, stores))
    scripts.boundSQLite()
    Interruption.isWaitedFor()
    let setting = EachWorker.Setting(container: container, function: function, scripts: scripts, stores: stores)
    // Options that control saving or limit scripts require that objects are visited separately.
    if !dryRun, batch == nil, jobs == nil, !scripts.isLimited, !scripts.strict, function.maySuitStore,
      try EachStatement(setting).run(condition, of: entity, quiet: quiet, summary)
    {
      return
    }
    let work = EachWork(
      try ids(in: container), batch: batch ?? Self.usualBatch, isDry: dryRun, quiet: quiet, summary: summary)
    try work.run(jobs: jobs ?? 1) { work in try EachWorker(setting, work) }
  }

  /// The objects that match at the start.
  ///
  /// The list is made once, so objects that are inserted meanwhile are not visited.
  private func ids(in container: PersistentContainer) throws -> IDList {
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    return try context.fetchIDList(condition.request(entity, in: context))
  }
}

/// The function that is called for each object, as the command line gives it.
///
/// The value is shared by workers. Each worker loads the function into its own Lua state.
struct EachFunction: Sendable {
  /// The source of the function.
  private let source: ScriptSource
  /// Whether the source is the body of a function, as in `--do`.
  private let isBody: Bool
  /// The stored derived attributes to compute, or nil if the function runs a script.
  private let recomputed: [String]?

  /// Reads the source. `limit` is the most bytes of a file.
  init(code: String?, file: String?, limit: Int?) throws {
    isBody = code != nil
    recomputed = nil
    source = try code.map { ScriptSource(name: "--do", text: $0) } ?? ScriptSource(path: file ?? "", limit: limit)
  }

  /// A function that computes stored attributes.
  private init(recomputing names: [String]) {
    (source, isBody, recomputed) = (ScriptSource(name: "recompute", text: ""), true, names)
  }

  /// Computes those of the named stored derived attributes that the entity of an object has.
  static func recomputing(_ names: [String]) -> EachFunction { EachFunction(recomputing: names) }

  /// The function that a worker calls for each object in its Lua state.
  ///
  /// Throws the errors of loading the source.
  func call(in domain: ScriptDomain) throws -> (ManagedObject, ManagedObjectContext) throws -> Void {
    guard let recomputed else { return try load(in: domain).call }
    return { object, context in
      let known = try context.storedAttributeNames(of: object.entity)
      try object.recomputeStoredAttributes(recomputed.filter(known.contains))
    }
  }

  /// The folder in which `require` searches, and which scripts may read.
  var folder: String { isBody ? "." : source.name.folderOfPath }

  /// Whether a store may be able to apply the function to all objects in one statement.
  var maySuitStore: Bool { ObjectFunction.maySuitStore(source, isBody: isBody) }

  /// Loads the source. Throws for a file that returns no function.
  func load(in domain: ScriptDomain) throws -> ObjectFunction {
    try isBody ? ObjectFunction(body: source, in: domain) : ObjectFunction(source, in: domain)
  }
}
