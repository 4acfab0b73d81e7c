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

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Takes rows of csv, tsv, json or ndjson into a store, as objects of an entity.",
    discussion: """
      moonbase import Person people.csv --store people.sqlite --upsert email

      Columns are named as properties; department.name finds the department by its name. Rules and hooks are in force: a \
      row that fails goes to a reject file with its line, the value and the reason, to be mended and imported again, and \
      the exit status is 4. An import that was ended goes on where it stood when it is run again.
      """)

  @Argument(help: "The entity whose objects the rows become.")
  var entity: String

  @Argument(help: "The file; - is standard input.")
  var file: String

  @OptionGroup var stores: WritingOptionGroup

  @Option(help: "The form of the rows: csv, tsv, json (one array) or ndjson (an object a line); else the file's name says it.")
  var format: ImportInput.Format?

  @Option(help: ArgumentHelp("A Lua file that says what columns and rows become.", valueName: "file"))
  var map: String?

  @Option(help: ArgumentHelp("Attributes by which a row is that of an object that is there already, as in email or code,year.", valueName: "keys"))
  var upsert: String?

  @Flag(help: "Make objects that a column like department.name leads to and that are not there.")
  var createMissing = false

  @Option(help: "How dates are written that are numbers: unix or reference (seconds since 2001); iso where none is.")
  var dates: ImportOptions.Dates = .iso

  @Option(name: .customLong("null"), parsing: .unconditional, help: "What stands for no value in csv and tsv (default: nothing).")
  var null = ""

  @Option(help: ArgumentHelp("Where rejected rows go (default: FILE.rejects.csv beside the file).", valueName: "path"))
  var rejects: String?

  @Option(help: ArgumentHelp("How many rows are saved together.", valueName: "rows"))
  var batch = 4096

  @Flag(help: "Save nothing: only say what would become of the rows.")
  var dryRun = false

  @Flag(help: "Begin anew where an earlier import of the file was ended.")
  var restart = false

  @Flag(help: "Write over the reject file of an earlier import.")
  var force = false

  @Flag(help: "No progress, no summary.")
  var quiet = false

  func validate() throws {
    guard (1...1_000_000).contains(batch) else {
      throw ValidationError("--batch takes a number from 1 to 1000000, not \(batch)")
    }
    if !null.isEmpty, format == .json || format == .ndjson {
      throw ValidationError("--null is for csv and tsv: JSON has a null of its own")
    }
    if dryRun, restart { throw ValidationError("--dry-run saves nothing, so that there is nothing to begin anew") }
  }

  func run() throws {
    let input = try ImportInput(file == "-" ? nil : file, format: format, null: null, rejectPath: rejects)
    let container = try PersistentContainer(stores.settings().container)
    let domain = try ScriptDomain()
    defer { domain.close() }
    domain.state.output = .standard
    try domain.state.openFiles(LuaFileAccess(), guardian: OpenStoreGuard())
    let script = try map.map { try ImportScript(ScriptSource(path: $0), in: domain) }
    let context = try domain.context(of: container.opened)
    let run = try ImportRun(self, input, in: context, script)
    try run.run()
  }

  var options: ImportOptions {
    var options = ImportOptions()
    options.keys = upsert.map(FetchColumns.names) ?? []
    (options.isDryRun, options.chunkSize, options.dates) = (dryRun, batch, dates)
    options.createsMissing = createMissing
    return options
  }
}

/// One import: its progress, its end, and what is said of it.
private struct ImportRun {
  private let command: ImportCommand
  private let input: ImportInput
  private let importer: Importer
  private let bookmark: ImportBookmark?

  init(
    _ command: ImportCommand, _ input: ImportInput, in context: ManagedObjectContext, _ script: ImportScript?
  ) throws {
    (self.command, self.input) = (command, input)
    guard let entity = context.model.entity(command.entity) else {
      throw GraphError.unknownEntity(command.entity, in: context.model)
    }
    bookmark =
      try command.dryRun
      ? nil
      : input.fingerprint.map {
        try ImportBookmark(
          "import \(entity.name) \(URL(literalPath: command.file).standardizedFileURL.path)", fingerprint: $0,
          of: context.coordinator.storeForNewObjects(of: entity), restarting: command.restart)
      }
    if let bookmark, bookmark.isGoingOn, !command.quiet {
      Terminal.complain(
        "moonbase: an import of this file was ended: it goes on in line \(bookmark.line); --restart begins anew")
    }
    if bookmark?.isGoingOn != true, !command.force, FileManager.default.fileExists(atPath: input.rejectPath) {
      throw UsageError(
        "\(input.rejectPath) is there from an earlier import: import or move it, name another file with --rejects, or give --force"
      )
    }
    importer = try Importer(
      entity, from: input, in: context, options: command.options, script: script, bookmark: bookmark)
  }

  func run() throws {
    let bar = ProgressBar(quiet: command.quiet)
    let began = Date()
    Interruption.isWaitedFor()
    importer.progress = { [input] offset, report in
      bar.show(
        Int(offset), of: Int(input.size ?? 0),
        rate: Double(report.rows) / max(Date().timeIntervalSince(began), 0.001), unit: "rows",
        seconds: Date().timeIntervalSince(began))
      return Interruption.hasCome
    }
    do {
      try importer.run()
    } catch {
      bar.end()
      summarize(began, isWhole: false)
      throw error
    }
    bar.end()
    if Interruption.hasCome {
      summarize(began, isWhole: false)
      throw ExitCode(ExitStatus.interrupted)
    }
    try importer.close()
    summarize(began, isWhole: true)
    if importer.report.rejected > 0 { throw ExitCode(ExitStatus.rejects) }
  }

  private func summarize(_ began: Date, isWhole: Bool) {
    guard !command.quiet else { return }
    let report = importer.report
    let seconds = Date().timeIntervalSince(began)
    var parts = ["\(report.inserted) inserted"]
    if !command.options.keys.isEmpty { parts.append("\(report.updated) updated") }
    if report.skipped > 0 { parts.append("\(report.skipped) passed over") }
    parts.append("\(report.rejected) rejected")
    let rate = Int(Double(report.rows) / max(seconds, 0.001))
    let verb = command.dryRun ? "would be " : ""
    Terminal.complain(
      "moonbase: \(report.rows) rows: \(verb)\(parts.joined(separator: ", ")) (\(String(format: "%.1f", seconds)) s, \(rate) rows/s)")
    if report.rejected > 0 { Terminal.complain("moonbase: what was rejected, and why: \(input.rejectPath)") }
    if !isWhole {
      Terminal.complain(
        bookmark == nil
          ? "moonbase: the import ended before the end of the file; what is said above is saved"
          : "moonbase: the import ended before the end of the file: run it again to go on")
    }
  }
}
