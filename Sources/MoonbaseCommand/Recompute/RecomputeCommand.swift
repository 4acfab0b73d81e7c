import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The command `moonbase recompute`. An extension may store a derived attribute, so that predicates
/// can use it. If the code of the extension changes, the stored values are outdated, and this
/// command computes them again. Objects are saved in batches, and a bookmark in the store allows an
/// interrupted run to continue.
struct RecomputeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recompute", abstract: "Brings stored derived attributes up to date with the code of extensions.",
    discussion: """
      moonbase recompute Person full_name --store people.sqlite --extension people.lua

      Without names all stored derived attributes of the entity are computed. Every so many objects are saved, and rules are in force: an object \
      that fails is told and left as it was. A run that was ended goes on where it stood when the command is given again, unless an extension \
      has changed since.

      Exit status: 0 done, 4 done but for objects that failed, 1 failed, 3 a limit was exceeded, 75 the store is busy, 130 interrupted.
      """)

  @Argument(help: "The entity; objects of its subentities are computed too.", completion: .entities)
  var entity: String

  @Argument(
    help: ArgumentHelp("Attributes; a path behind them is the store, which --store names too.", valueName: "attribute"),
    completion: .properties)
  var words: [String] = []

  @Option(help: "Save after so many objects (default: 1000).")
  var batch: Int?

  @Flag(help: "Begin anew where an earlier run was ended.")
  var restart = false

  @Flag(help: "Save nothing: print before and after of the first ten objects that would be changed, and count.")
  var dryRun = false

  @OptionGroup var stores: WritingOptionGroup
  @OptionGroup var scripts: ScriptOptionGroup

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  /// The store after the names. The name of an attribute contains no dot and no slash.
  private var store: String? { words.last.flatMap { $0.contains { "./".contains($0) } ? $0 : nil } }

  /// The names of the attributes. If there are none, all stored derived attributes are computed.
  private var names: [String] { store == nil ? words : words.dropLast() }

  /// Rejects a store in the place of the entity, and a batch that is too small or too large.
  func validate() throws {
    try EntityArgument.check(entity, store, command: "recompute")
    if let batch, !(1...1_000_000).contains(batch) {
      throw ValidationError("--batch takes a number from 1 to 1000000, not \(batch)")
    }
  }

  /// The number of objects in a batch without `--batch`.
  private static let usualBatch = 1000

  /// Opens the stores, and recomputes the objects of each store.
  ///
  /// - Throws: An exit code for partial success if objects failed.
  func run() throws {
    var stores = try stores.settings(store)
    try stores.requireStores()
    if dryRun { stores.readOnly = true }
    let scripts = try scripts.settings()
    if !dryRun { try scripts.requireWriting("recompute") }
    let container = try PersistentContainer(scripts.limiting(stores.container, stores))
    scripts.boundSQLite()
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let names = try checkedNames(in: context)
    let work = StoreWork(
      names: names, batch: batch ?? Self.usualBatch, restarts: restart, isDry: dryRun, quiet: quiet, summary: summary,
      code: RecomputeBookmark.digest(extensions: stores.extensions, names: names))
    Interruption.isWaitedFor()
    let groups = try groups(of: context.fetchIDList(FetchRequest(entity)), in: container)
    var hasFailures = false
    for (store, ids) in groups {
      if groups.count > 1, !quiet, !summary.json {
        Terminal.complain("moonbase: \(stores.name(of: store)):")
      }
      hasFailures = try work.run(entity, ids, in: store, container, scripts, stores) || hasFailures
    }
    if hasFailures { throw ExitCode(ExitStatus.rejects) }
  }

  /// The objects grouped by their store. Each store has its own bookmark.
  ///
  /// - Parameters:
  ///   - ids: The objects of all stores.
  ///   - container: The opened stores.
  private func groups(
    of ids: IDList, in container: PersistentContainer
  ) -> [(store: any PersistentStore, ids: IDList)] {
    let all = container.coordinator.persistentStores
    guard all.count > 1 else { return all.map { ($0, ids) } }
    let groups = all.map { store in (store, IDList(ids.filter { $0.storeIdentifier == store.identifier })) }
    return groups.filter { !$0.1.isEmpty }
  }

  /// The given names, or all names. Throws if a name is not a stored derived attribute.
  ///
  /// - Throws: `.unknownName`, with a suggestion.
  private func checkedNames(in context: ManagedObjectContext) throws -> [String] {
    guard let named = context.model.entity(entity) else { throw GraphError.unknownEntity(entity, in: context.model) }
    let known = try Set(context.model.entities.filter { $0.isKind(of: named) }.flatMap(context.storedAttributeNames))
    guard !known.isEmpty else {
      throw GraphError(
        .unknownName,
        message:
          "\(entity) has no stored derived attribute: an extension computes one, with stored = true, and --extension loads it",
        entity: entity)
    }
    for name in names where !known.contains(name) {
      throw GraphError(
        .unknownName,
        message:
          "\(entity).\(name) is no stored derived attribute\(suggestion(for: name, among: known.sorted())): it has \(known.sorted().listed())",
        entity: entity, property: name)
    }
    return names.isEmpty ? known.sorted() : names
  }
}

/// The recomputation of objects in one store.
///
/// It is created for each store and used once.
private struct StoreWork {
  /// The names of the attributes.
  let names: [String]
  /// The number of objects in a batch.
  let batch: Int
  /// Whether an earlier bookmark is ignored.
  let restarts: Bool
  /// Whether nothing is saved.
  let isDry: Bool
  /// Whether progress and summary are left out.
  let quiet: Bool
  /// Whether the summary is printed as JSON.
  let summary: SummaryOptionGroup
  /// The digest of the extensions' code. A bookmark of other code is not valid.
  let code: String

  /// Returns whether some objects failed.
  ///
  /// - Parameters:
  ///   - entity: The name of the entity.
  ///   - ids: The objects of the store.
  ///   - store: The store.
  ///   - container: The opened stores.
  ///   - scripts: The limits of scripts.
  ///   - stores: The settings of the stores.
  func run(
    _ entity: String, _ ids: IDList, in store: any PersistentStore, _ container: PersistentContainer,
    _ scripts: ScriptSettings, _ stores: StoreSettings
  ) throws -> Bool {
    let bookmark = isDry ? nil : try bookmark(entity, in: store)
    let rest = bookmark?.rest(of: ids) ?? ids
    if let counts = bookmark?.formerCounts, !quiet {
      Terminal.complain(
        "moonbase: an earlier run was ended: it went through \(counts.visited) objects and changed \(counts.changed); this one goes on behind them"
      )
    }
    let setting = EachWorker.Setting(
      container: container, function: .recomputing(names), scripts: scripts, stores: stores, bookmark: bookmark)
    let work = EachWork(
      rest, batch: batch, isDry: isDry, quiet: quiet, summary: summary,
      store: stores.name(of: store))
    var hasFailures = false
    do {
      try work.run(jobs: 1) { work in try EachWorker(setting, work) }
    } catch let status as ExitCode where status.rawValue == ExitStatus.rejects {
      hasFailures = true
    }
    try bookmark?.end()
    return hasFailures
  }

  /// The bookmark of this computation. With `--restart`, an earlier bookmark is removed.
  private func bookmark(_ entity: String, in store: any PersistentStore) throws -> RecomputeBookmark {
    let bookmark = try RecomputeBookmark(entity, code: code, in: store)
    guard restarts else { return bookmark }
    try bookmark.end()
    return try RecomputeBookmark(entity, code: code, in: store)
  }
}
