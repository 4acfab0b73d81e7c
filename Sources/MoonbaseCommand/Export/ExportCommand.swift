import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// `moonbase export`: writes objects of an entity to a file, or with `--all` a whole store to a
/// folder.
///
/// A file of objects is made for other programs, a folder for `import --all`. Both appear when they
/// are complete.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the objects of an entity, or all of a store, to files. The store is only read.",
    discussion: """
      moonbase export Person people.csv --store people.sqlite --where 'age > %@' --param 30 --columns _id,name,team.name

      The file's extension says how it is written, unless --format does. It appears when it is whole: an export that fails or is \
      interrupted leaves what was there. Without --columns there are the object's URI (_id), the stored attributes, and the URIs of to-one \
      relationships.

      moonbase export --all backup/ --store people.sqlite

      Writes a folder with all of a store, so that 'moonbase import --all' makes an equal one of it: a file Entity.ndjson for each entity that has \
      objects, model.lua, and export.json.
      """)

  @Argument(
    help: ArgumentHelp("The entity; objects of its subentities are among the results.", valueName: "entity"),
    completion: .entities)
  var first: String?

  @Argument(
    help: ArgumentHelp("The file, or '-' for standard output (default).", valueName: "file"), completion: .file())
  var second: String?

  @Argument(
    help: ArgumentHelp(
      "The store, as the last argument (default: that of the project); --store names it too.", valueName: "store"),
    completion: .file())
  var third: String?

  @Option(
    help: ArgumentHelp("All of the store, in a folder that is new or empty.", valueName: "folder"),
    completion: .directory)
  var all: String?

  @OptionGroup var stores: StoreOptionGroup
  @OptionGroup var selection: RequestOptionGroup
  @OptionGroup var limits: LimitOptionGroup

  @Option(
    help:
      "How objects are written: csv, tsv, json or ndjson (default: by the file's extension; ndjson on standard output)."
  )
  var format: OutputFormat?

  @Option(help: "How dates are written: iso (default), unix or reference (seconds since 2001, as stored).")
  var dates: DateForm?

  @Option(
    name: .customLong("null"), parsing: .unconditional,
    help: "What stands for no value in csv and tsv (default: nothing; the empty string is \"\").")
  var null: String?

  @Flag(help: "Replace a file that is there already; with --all a folder that holds an export.")
  var force = false

  @Flag(help: "No word but errors on standard error.")
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  /// The positional arguments, of which the last may be the store.
  private var arguments: ArgumentsBeforeStore {
    let words = [first, second, third]
    if all != nil { return ArgumentsBeforeStore(besideFolder: words, stores) }
    return ArgumentsBeforeStore(words, least: 1, most: 2, isNamed: stores.isNamed)
  }

  /// The name of the entity.
  private var entity: String? { arguments[0] }

  /// The path of the file as given.
  private var file: String? { arguments[1] }

  /// The path of the file, or nil for standard output.
  private var path: String? { file == "-" ? nil : file }

  /// Checks combinations of options.
  func validate() throws {
    guard let all else {
      guard entity != nil else { throw ValidationError("there is nothing to export: name an entity, or --all FOLDER") }
      if summary.json, path == nil {
        throw ValidationError(
          "--json tells of a file, and standard output has the objects: --format json writes them so")
      }
      if force, path == nil { throw ValidationError("--force is for a file that is there: name one") }
      return try understood { _ = try form() }
    }
    if all.isEmpty { throw ValidationError("--all takes the name of a folder") }
    guard entity == nil, file == nil, !selection.isGiven, format == nil, dates == nil, null == nil else {
      throw ValidationError("--all writes everything in one form: leave the entity and what is said of it out")
    }
  }

  /// Runs the export within the limits of the command.
  func run() throws { try limits.run(export) }

  /// Opens the store read-only, and exports an entity or everything.
  private func export(in domain: ScriptDomain?) throws {
    var settings = try stores.settings(arguments.store)
    settings.readOnly = true
    let container = try PersistentContainer(limits.settings().limiting(settings.container, settings))
    let bar = ProgressBar(quiet: quiet)
    defer { bar.end() }
    if let all {
      try export(container.coordinator, to: all, bar)
    } else if let entity {
      try export(entity, of: container.context(in: domain), bar)
    }
  }

  /// Writes the objects of an entity.
  private func export(_ entity: String, of context: ManagedObjectContext, _ bar: ProgressBar) throws {
    let request = try selection.request(entity, in: context)
    let output = try FetchOutput(
      request, columns: selection.columnNames, form: form(), in: context, includesAdded: false)
    guard let path else {
      try output.run(showing: bar)
      return
    }
    Interruption.isWaitedFor()
    let watch = InterruptionWatch()
    defer { watch.end() }
    if let scripts = ScriptDomain.of(context) { watch.add(scripts.state.interrupter) }
    let count = try output.run(to: OutputDestination(file: path, replacing: force), showing: bar)
    try summary.tell(
      ["file": .string(path), "entity": .string(entity), "objects": .count(count)], quiet: quiet, lines: [])
  }

  /// Writes a store into a folder. Throws `UsageError` for several stores.
  private func export(_ coordinator: PersistentStoreCoordinator, to folder: String, _ bar: ProgressBar) throws {
    let stores = coordinator.persistentStores
    guard stores.count == 1 else {
      throw UsageError("--all writes one store into a folder: export each of the \(stores.count) into one of its own")
    }
    Interruption.isWaitedFor()
    let leftOut = try LeftOutRows(of: stores[0])
    var export = StoreExport(
      stores[0], of: coordinator.model, to: try ExportFolder(folder, replacing: force), leaving: leftOut, showing: bar)
    let counts = try export.run().entities.mapValues(\.count)
    bar.end()
    leftOut.tell("written")
    let objects = counts.values.reduce(0, +)
    try summary.tell(
      [
        "folder": .string(folder), "objects": .count(objects), "entities": .map(counts.mapValues(Value.count)),
        "leftOut": leftOut.report,
      ],
      quiet: quiet,
      lines: [
        "\(objects) object\(objects == 1 ? "" : "s") of \(counts.count) entit\(counts.count == 1 ? "y" : "ies") in \(folder)"
      ])
    if !leftOut.isEmpty { throw ExitCode(ExitStatus.rejects) }
  }

  /// The output form of the options and of the file's name.
  private func form() throws(UsageError) -> OutputForm {
    let format =
      if let format { format } else if let path { try OutputFormat(fileName: path) } else { OutputFormat.ndjson }
    guard format != .table else { throw UsageError("tables are for a person: --format takes csv, tsv, json or ndjson") }
    guard null == nil || format.separator != nil else {
      throw UsageError("--null is for csv and tsv: JSON has a null of its own")
    }
    return OutputForm(format: format, dates: dates ?? .iso, null: null ?? "")
  }
}

extension OutputFormat {
  /// The format for a file name extension.
  ///
  /// Throws `UsageError` for an unknown ending.
  fileprivate init(fileName: String) throws(UsageError) {
    let known: [String: OutputFormat] = [
      "csv": .csv, "tsv": .tsv, "tab": .tsv, "json": .json, "ndjson": .ndjson, "jsonl": .ndjson,
    ]
    guard let format = known[URL(literalPath: fileName).pathExtension.lowercased()] else {
      throw UsageError("\(fileName) does not end with .csv, .tsv, .json or .ndjson: say how to write it with --format")
    }
    self = format
  }
}
