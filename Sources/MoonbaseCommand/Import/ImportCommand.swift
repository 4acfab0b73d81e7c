import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

extension ImportInput.Format: ExpressibleByArgument {}
extension ImportOptions.Dates: ExpressibleByArgument {}

/// The command `moonbase import`. It reads rows and creates or updates objects of an entity with an
/// `Importer`. The variant `--infer` first creates a model and a store, and the variant `--all`
/// fills a store from a folder that `moonbase export --all` wrote.
///
/// This type only parses and checks the options. `ImportRun`, `InferredImport`, `InferredDatabase`
/// and `StoreImportRun` do the work.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Takes rows of csv, tsv, json or ndjson into a store, as objects of an entity.",
    discussion: """
      moonbase import Person people.csv --store people.sqlite --upsert email

      Columns are named as properties; department.name finds the department by its name. Rules and hooks are in force: a \
      row that fails goes to a reject file with its line, the value and the reason, to be mended and imported again, and \
      the exit status is 4. An import that was ended goes on where it stood when it is run again.

      moonbase import people.csv --infer --store new.sqlite guesses the model from the data, writes it to new.lua with the \
      reasons as comments, and makes the store of it. With --dry-run it only prints the model: edit it, and import with --model.

      moonbase import --all folder --store new.sqlite makes the store that export --all wrote, with the model in the folder.
      """)

  @Argument(
    help: ArgumentHelp(
      "The entity whose objects the rows become; with --infer it may be left out.", valueName: "entity"),
    completion: .entities)
  var first: String?

  @Argument(help: ArgumentHelp("The file; - is standard input.", valueName: "file"), completion: .file())
  var second: String?

  @Argument(
    help: ArgumentHelp(
      "The store, as the last argument (default: that of the project); --store names it too.", valueName: "store"),
    completion: .file())
  var third: String?

  @Option(
    help: ArgumentHelp(
      "A folder that export --all made, for a new store: all of its objects, as they are.", valueName: "folder"),
    completion: .directory)
  var all: String?

  @Flag(
    help: """
      Guess the model from all of the data and make the store; --model says where the model is written (default: beside \
      the store).
      """)
  var infer = false

  @OptionGroup var stores: WritingOptionGroup
  @OptionGroup var scripts: ScriptOptionGroup

  @Option(
    help: "The form of the rows: csv, tsv, json (one array) or ndjson (an object a line); else the file's name says it."
  )
  var format: ImportInput.Format?

  @Option(
    help: ArgumentHelp(
      "What separates the fields of csv: a character, or tab (default: what the first lines have: , ; | or a tab).",
      valueName: "character"), completion: .list(["tab", ",", ";", "|"]))
  var separator: FieldSeparator?

  @Option(
    help: ArgumentHelp(
      "The encoding of the file (default: utf-8): \(TextEncoding.names.joined(separator: ", ")).", valueName: "name"),
    completion: .list(TextEncoding.names))
  var encoding: InputEncoding?

  @Flag(help: "The first line of csv has no names: the columns are column1, column2 and so on.")
  var noHeader = false

  @Option(
    help: ArgumentHelp("A Lua file that says what columns and rows become.", valueName: "file"), completion: .file())
  var map: String?

  @Option(
    help: ArgumentHelp(
      "Attributes by which a row is that of an object that is there already, as in email or code,year.",
      valueName: "keys"), completion: .properties)
  var upsert: String?

  @Flag(help: "Make objects that a column like department.name leads to and that are not there.")
  var createMissing = false

  @Option(help: "How dates are written that are numbers: unix or reference (seconds since 2001); iso where none is.")
  var dates: ImportOptions.Dates = .iso

  @Option(
    name: .customLong("null"), parsing: .unconditionalSingleValue,
    help: "What stands for no value in csv and tsv (default: nothing). May be repeated.")
  var null: [String] = []

  @Option(
    help: ArgumentHelp(
      "Where rejected rows go (default: FILE.rejects.csv beside the file; FILE.dry-run.rejects.csv with --dry-run).",
      valueName: "path"), completion: .file())
  var rejects: String?

  @Option(help: ArgumentHelp("How many rows are saved together.", valueName: "rows"))
  var batch = 4096

  @Flag(help: "Save nothing: only say what would become of the rows.")
  var dryRun = false

  @Flag(help: "Begin anew where an earlier import of the file was ended.")
  var restart = false

  @Flag(help: "Write over the reject file of an earlier import, and with --infer over the file of a model.")
  var force = false

  @Flag(help: "No progress, no summary.")
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  /// The arguments without names, assigned to the entity, the file and the store. Which of them is
  /// missing depends on the options.
  private var arguments: ArgumentsBeforeStore {
    let words = [first, second, third]
    if all != nil { return ArgumentsBeforeStore(besideFolder: words, stores.stores) }
    // The name of an entity contains no dot and no slash.
    let beginsWithFile = infer && first?.contains { "./-".contains($0) } == true
    return ArgumentsBeforeStore(
      words, least: beginsWithFile ? 1 : 2, most: 2, isNamed: infer ? stores.stores.isNamedHere : stores.stores.isNamed)
  }

  /// The first argument. It is nil if it was left out.
  private var entity: String? { arguments[0] }

  /// The path of the input, or `-` for standard input.
  private var file: String? { arguments[1] }

  /// The settings of the store, from the argument or the options.
  ///
  /// - Throws: A `UsageError` if the store is named twice.
  func storeSettings() throws(UsageError) -> StoreSettings {
    // A store that is created from data has its own model.
    try stores.settings(arguments.store, isInProject: !infer && all == nil)
  }

  /// Rejects combinations of options that contradict each other, before a file is opened.
  func validate() throws {
    if let entity, all != nil {
      throw ValidationError("--all takes a folder of all entities: leave '\(entity)' out")
    }
    guard all != nil || entity != nil && (file != nil || infer) else {
      throw ValidationError(
        "import takes an entity and a file, as in moonbase import Person people.csv, or --all FOLDER")
    }
    let others: [(String, Bool)] = [
      ("--format", format != nil), ("--separator", separator != nil), ("--encoding", encoding != nil),
      ("--no-header", noHeader), ("--map", map != nil), ("--upsert", upsert != nil),
      ("--create-missing", createMissing),
      ("--dates", dates != .iso), ("--null", !null.isEmpty), ("--rejects", rejects != nil), ("--batch", batch != 4096),
      ("--dry-run", dryRun), ("--infer", infer), ("--restart", restart), ("--force", force),
      ("--extension", !stores.stores.modules.isEmpty),
    ]
    if all != nil, let option = others.first(where: \.1)?.0 {
      throw ValidationError("\(option) is for rows that become objects of one entity: leave it out with --all")
    }
    if all == nil, format == nil, (file ?? entity) == "-" {
      throw ValidationError(
        "standard input has no name that says in which form it is: give --format csv, tsv, json or ndjson")
    }
    guard (1...1_000_000).contains(batch) else {
      throw ValidationError("--batch takes a number from 1 to 1000000, not \(batch)")
    }
    if !null.isEmpty, format == .json || format == .ndjson {
      throw ValidationError("--null is for csv and tsv: JSON has a null of its own")
    }
    if separator != nil || noHeader, format == .json || format == .ndjson {
      throw ValidationError("\(noHeader ? "--no-header" : "--separator") is for csv and tsv")
    }
    if infer { try validateInference() }
    if dryRun, restart { throw ValidationError("--dry-run saves nothing, so that there is nothing to begin anew") }
  }

  /// Rejects the options that have no meaning together with `--infer`.
  private func validateInference() throws {
    if summary.json, dryRun { throw ValidationError("--dry-run prints the model: leave --json out") }
    let others: [(String, Bool, String)] = [
      ("--map", map != nil, "the model that is guessed says which column an attribute is filled from"),
      ("--create-missing", createMissing, "no column leads to other objects"),
      ("--dates", dates != .iso, "numbers stay numbers"),
      ("--restart", restart, "remove the store to begin anew"),
    ]
    if let (option, _, reason) = others.first(where: \.1) {
      throw ValidationError("\(option) does not go with --infer: \(reason)")
    }
  }

  /// Selects the variant of the import and runs it. The plain variant opens the input before the
  /// store, so that a missing file does not create a store.
  func run() throws {
    if let all { return try StoreImportRun(all, storeSettings(), quiet: quiet, summary).run() }
    guard let entity else { return }
    if !dryRun { try scripts.settings().requireWriting("import") }
    if infer {
      let (entity, path) = (file == nil ? nil : entity, file ?? entity)
      if OpenDatabase.isOne(path) { return try InferredDatabase(self, entity, path).run() }
      return try InferredImport(self, entity, path).run()
    }
    guard let file else { return }
    try importRows(input(file == "-" ? nil : file), file, as: entity, into: storeSettings().container)
  }

  /// The rows of a file, of standard input, or of the spooled part of it.
  ///
  /// - Parameters:
  ///   - path: The path of the file, or nil for standard input.
  ///   - spool: The part of standard input that was already read to infer a model.
  /// - Returns: The input with the format and the separator from the options, or as detected from
  ///   its name and its first lines.
  /// - Throws: `.cannotOpenFile` if the file cannot be read, and a `UsageError` if the format is
  ///   unclear.
  func input(_ path: String?, _ spool: InputSpool? = nil) throws -> ImportInput {
    let input = try ImportInput(
      path, format: format, nulls: null.isEmpty ? [""] : null,
      as: .init(separator: separator?.byte, encoding: encoding?.encoding, hasNames: !noHeader), rejectPath: rejects,
      isDryRun: dryRun, spool: spool, wait: Interruption.whileWaiting)
    return input
  }

  /// Imports rows into the stores of a container.
  ///
  /// - Parameters:
  ///   - input: The opened rows.
  ///   - file: The name of the input, for messages and for the ledger.
  ///   - entity: The name of the entity.
  ///   - description: The container that is opened for the import.
  func importRows(_ input: ImportInput, _ file: String, as entity: String, into description: ContainerDescription)
    throws
  {
    let (stores, scripts) = (try storeSettings(), try scripts.settings())
    var description = description
    // A dry run needs no store file.
    if dryRun, stores.model != nil { try description.keepMissingStoresInMemory() }
    let domain = try scripts.openDomain(forScriptsIn: map?.folderOfPath ?? ".", stores)
    defer { domain.close() }
    // Interrupt a map or a rule that does not end by itself.
    let watch = InterruptionWatch()
    defer { watch.end() }
    watch.add(domain.state.interrupter)
    Interruption.isWaitedFor()
    scripts.boundSQLite()
    // The whole import is one run, so the limits apply to all of it.
    try domain.state.run {
      let script = try map.map {
        try ImportScript(ScriptSource(path: $0, limit: scripts.limits.sourceSize), in: domain)
      }
      let new = try NewStores(stores)
      try checkColumns(of: input, as: entity, script, scripts.limiting(description, stores))
      let container = try Interruption.endingProcess {
        try PersistentContainer(scripts.limiting(description, stores))
      }
      new.tell(quiet: quiet || infer)
      let context = try domain.context(of: container.opened)
      try ImportRun(self, entity, input, file, in: context, script).run()
      try domain.state.flushFiles()
    }
  }

  /// Throws if a column is unknown, before a new store is created.
  ///
  /// A csv file has its columns in the first line, so a misspelled name is found early. A trial
  /// container in memory is enough to know the properties.
  private func checkColumns(
    of input: ImportInput, as name: String, _ script: ImportScript?, _ description: ContainerDescription
  ) throws {
    guard !infer, input.format == .csv || input.format == .tsv else { return }
    var trial = description
    guard try trial.keepMissingStoresInMemory() else { return }
    let container = try Interruption.endingProcess { try PersistentContainer(trial) }
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    guard let entity = context.model.entity(name) else { throw GraphError.unknownEntity(name, in: context.model) }
    _ = try Importer(
      entity, from: input, in: context, options: options, script: script, bookmark: nil, replacesRejects: true)
  }

  /// The settings of the importer: the keys, the dates, the size of a batch and the treatment of
  /// missing destinations.
  var options: ImportOptions {
    var options = ImportOptions()
    options.keys = upsert.map(FetchColumns.names) ?? []
    (options.isDryRun, options.chunkSize, options.dates) = (dryRun, batch, dates)
    options.createsMissing = createMissing
    return options
  }
}

extension ContainerDescription {
  /// Keeps stores that do not exist yet in memory. Returns whether there were such stores.
  @discardableResult
  fileprivate mutating func keepMissingStoresInMemory() throws -> Bool {
    var isOne = false
    for index in stores.indices {
      // Opening refuses a store on a server that does not exist and has no model.
      if case .kept = model, stores[index].url == nil { continue }
      guard try stores[index].isMissing() else { continue }
      let configuration = stores[index].configuration
      stores[index] = .inMemory
      stores[index].configuration = configuration
      isOne = true
    }
    return isOne
  }
}
