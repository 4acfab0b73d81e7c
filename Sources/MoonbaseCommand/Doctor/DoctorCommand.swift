import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseScripting

/// `moonbase doctor`: looks for damage in stores, and with `--repair` repairs what is safe.
///
/// Findings come from `StoreCheck` for the file, and from `ExtensionCheck` for rules of extensions.
/// The exit status is a failure if findings remain.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Looks for what is wrong with a store, and mends what can be mended without a decision.",
    discussion: """
      Looked at are a file's write-ahead log, SQLite's own structures, what the model asks for and the file lacks, each row's values against the model's types and rules, relationships that lead \
      nowhere or that two rows tell otherwise, places in ordered relationships, derived attributes, the numbers of Z_PRIMARYKEY, and the \
      files of values.

      With --extension, or in a project, objects are looked at with the extensions too: rules that are broken, and stored derived attributes \
      that the present code computes otherwise (moonbase recompute mends these). Extensions that a store asks for and that are not \
      loaded are told, because their rules are not checked then. In a project with several stores all of them are looked at.

      --repair raises numbers that are too small, takes relationships away that lead nowhere (where the model lets them be \
      missing), gives out places, derives attributes anew, and removes pairs and files that nobody names. All else is only told, and \
      nothing is mended in a store that lacks something.

      Exit status: 0 if nothing is wrong, or nothing any more; 1 if something is.
      """)

  @OptionGroup var place: StoresArgument

  @Flag(help: "Mend what is safe to mend, and say what was done.")
  var repair = false

  @Flag(help: "Print JSON: an object a line.")
  var json = false

  @Flag(help: "Print the URIs of objects in the place of short IDs.")
  var uri = false

  @OptionGroup var file: FileOptionGroup

  @Option(
    name: StoreOption.modules.parserName, help: StoreOption.modules.parserHelp,
    completion: StoreOption.modules.parserCompletion)
  var extensions: [String] = []

  @Option(name: StoreOption.withoutExtension.parserName, help: StoreOption.withoutExtension.parserHelp)
  var withoutExtensions: [String] = []

  @Option(name: StoreOption.author.parserName, parsing: .unconditional, help: StoreOption.author.parserHelp)
  var author: String?

  @Option(
    help: ArgumentHelp(
      "Let the store forget an extension that its saves ran with, so that it is written without it from now on; repeatable.",
      valueName: "NAME"))
  var forgetExtension: [String] = []

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false

  @Flag(name: StoreOption.allowsCloudKit.parserName, help: StoreOption.allowsCloudKit.parserHelp)
  var allowsCloudKit = false

  /// Checks combinations of options.
  func validate() throws {
    if file.readOnly, repair { throw ValidationError("--repair writes: leave --read-only out") }
    if file.readOnly, !forgetExtension.isEmpty {
      throw ValidationError("--forget-extension writes: leave --read-only out")
    }
    if !forgetExtension.isEmpty, place.places.count > 1 {
      throw ValidationError("--forget-extension is for one store, and there are \(place.places.phrase): name one")
    }
    if author != nil, !repair { throw ValidationError("--author is for what writes: without --repair nothing does") }
    if allowsCloudKit, !repair, forgetExtension.isEmpty {
      throw ValidationError("--allow-cloudkit is for what writes: without --repair nothing does")
    }
  }

  /// Runs the checks within the limits of the command.
  func run() throws { try file.limits.run(look) }

  /// Checks all stores, one after the other.
  private func look(in domain: ScriptDomain?) throws {
    let stores = place.places
    for store in stores { try StoreSettings.requireStore(store.path) }
    let left = try stores.map { try look(at: $0, in: domain, isNamed: stores.count > 1) }
    if left.contains(where: { $0 > 0 }) { throw ExitCode(ExitStatus.failed) }
  }

  /// Checks a store, and returns the number of findings that remain.
  private func look(at store: NamedStore, in domain: ScriptDomain?, isNamed: Bool) throws -> Int {
    let model = try file.model(of: store)
    let busyTimeout = try file.settings().busyTimeout
    try store.requireConfiguration(model.description, busyTimeout: busyTimeout)
    let store = try store.withHeldConfiguration(model.description, busyTimeout: busyTimeout)
    try forgetExtensions(of: store, model)
    if isNamed { Terminal.complain("moonbase: \(store.name):") }
    let examination = StoreExamination(store: store, model: model, busyTimeout: busyTimeout)
    let before = try findings(examination, isTold: true)
    let container = try container(beside: before, store, model)
    let ofExtensions = try container.map { try findingCount(of: $0, in: domain, beside: before) } ?? 0
    var left = before
    if repair, before.contains(where: { $0.repair != .none }) {
      let refusals = try mend(before, examination)
      left = try findings(examination, isTold: false)
      for finding in before where finding.repair != .none && !left.contains(finding) { tell("mended", finding) }
      for refusal in refusals { Terminal.complain("moonbase: \(refusal)") }
    }
    if !Self.isDamaged(before) { try tellLeftOut(loaded: container, store, model) }
    let (all, rest) = (before.count + ofExtensions, left.count + ofExtensions)
    Terminal.complain("moonbase: \(Self.summary(all, rest))")
    return rest
  }

  /// Throws if the store does not remember an extension of the given name.
  ///
  /// The saves of the store will no longer require these extensions.
  private func forgetExtensions(of store: NamedStore, _ model: ResolvedModel) throws {
    guard !forgetExtension.isEmpty else { return }
    var description = try settings(store).container
    (description.model, description.extensions) = (.value(model.description), [])
    description.missingExtensions = .ignored
    let container = try PersistentContainer(description)
    let known = try container.rememberedExtensions().map(\.name)
    for name in forgetExtension {
      guard known.contains(name) else {
        let all = known.isEmpty ? "it remembers none" : "it remembers \(known.listed())"
        throw UsageError("\(store.name) remembers no extension \(name)\(suggestion(for: name, among: known)): \(all)")
      }
      try container.forgetExtension(name)
      Terminal.complain("moonbase: \(store.name) has forgotten the extension \(name)")
    }
  }

  /// Whether SQLite's structures are damaged, so that objects cannot be read.
  private static func isDamaged(_ known: [StoreFinding]) -> Bool {
    known.contains { [.integrity, .missing].contains($0.kind) }
  }

  /// Reports the extensions that the store needs and that are not loaded.
  private func tellLeftOut(loaded container: PersistentContainer?, _ store: NamedStore, _ model: ResolvedModel) throws {
    let leftOut = try LeftOutExtensions(
      of: store, model, loaded: container?.extensions.loaded.map(\.name) ?? [], settings(store))
    if let message = leftOut.message { Terminal.complain("moonbase: \(message)") }
  }

  /// The store with extensions, or nil if there are none. Extensions do not check a damaged store.
  private func container(
    beside known: [StoreFinding], _ store: NamedStore, _ model: ResolvedModel
  ) throws -> PersistentContainer? {
    var settings = try settings(store)
    settings.readOnly = true
    guard !settings.extensions.isEmpty, !Self.isDamaged(known) else { return nil }
    var description = try file.limits.settings().limiting(settings.container, settings)
    description.model = .value(model.description)
    // The summary names the missing extensions.
    description.missingExtensions = .ignored
    return try PersistentContainer(description)
  }

  /// Prints the findings of the extensions, and returns their number.
  private func findingCount(
    of container: PersistentContainer, in domain: ScriptDomain?, beside known: [StoreFinding]
  ) throws -> Int {
    var count = 0
    let bar = ProgressBar(quiet: quiet)
    try ExtensionCheck(container.context(in: domain), known: known) { finding in
      bar.end()
      count += 1
      tell("found", finding)
    }.run(showing: bar)
    return count
  }

  /// The store with the extensions that the command line or the project names.
  private func settings(_ store: NamedStore) throws(UsageError) -> StoreSettings {
    var settings = try file.settings(store)
    settings.extensions = extensions
    settings.withoutExtensions = Set(withoutExtensions)
    settings.allowsCloudKit = allowsCloudKit
    if let author { try StoreOption.author.apply(author, &settings) }
    let model = settings.model
    try settings.complete(with: Project.current())
    settings.model = model
    settings.projectFiles.removeAll { $0.key == "model" }
    return settings
  }

  /// Each finding once. Findings are printed as they are found.
  ///
  /// `isTold` says whether the findings are printed.
  private func findings(_ examination: StoreExamination, isTold: Bool) throws -> [StoreFinding] {
    var found: [StoreFinding] = []
    let bar = ProgressBar(quiet: quiet)
    defer { bar.end() }
    let mayLackLog = try examination.run(showing: bar) { finding in
      found.append(finding)
      guard isTold else { return }
      bar.end()
      tell("found", finding)
    }
    bar.end()
    if isTold, mayLackLog {
      let name = examination.store.name
      Terminal.complain(
        "moonbase: \(name) wants a write-ahead log, has none, and never had an object: if it should have "
          + "some, put \(name)-wal back beside it")
    }
    return found
  }

  /// Prints a finding, as a line or as JSON.
  private func tell(_ what: String, _ finding: StoreFinding) {
    let place = uri ? finding.placeByURI : finding.place
    guard json else {
      return Terminal.print(
        "\(what == "found" ? "" : "\(what): ")\(finding.kind.rawValue): \(place): \(finding.message)".inOneLine)
    }
    let writer = RowPrinter(
      OutputForm(format: .ndjson), columns: ["event", "kind", "place", "message", "repairable"])
    // If a line cannot be written to standard output, the command fails at the end.
    try? writer.write([
      .string(what), .string(finding.kind.rawValue), .string(place), .string(finding.message),
      .bool(finding.repair != .none),
    ])
    try? writer.finish()
  }

  /// The numbers of findings before and after the repair in words.
  private static func summary(_ before: Int, _ left: Int) -> String {
    switch (before, left) {
    case (0, _): "nothing is wrong"
    case (1, 1): "one thing is wrong"
    case (_, before): "\(before) things are wrong"
    case (_, 0): "all of \(before) mended"
    default: "\(before - left) of \(before) mended, \(left) left"
    }
  }

  // MARK: Mending

  /// Repairs the store. Returns the reasons why some relationships could not be repaired.
  private func mend(_ findings: [StoreFinding], _ examination: StoreExamination) throws -> [String] {
    let (store, model) = (examination.store, examination.model)
    if findings.contains(where: { $0.repair == .file }) { try examination.repair(allowsCloudKit: allowsCloudKit) }
    let loose = findings.compactMap { finding -> (ManagedObjectID, String)? in
      if case .nullify(let id, let property) = finding.repair { (id, property) } else { nil }
    }
    guard !loose.isEmpty else { return [] }
    var description = try settings(store).container
    description.model = .value(model.description)
    let container = try PersistentContainer(description)
    let context = try container.context(in: nil)
    var refusals: [String] = []
    for (id, property) in loose {
      do {
        guard let object = try context.existingObject(with: id) else { continue }
        try object.setValue(.null, forKey: property)
        try context.save()
      } catch let error as GraphError where error.code != .storeBusy {
        refusals.append("\(uri ? id.uriRepresentation : id.short): \(property) stays as it is: \(error.message)")
        try context.rollback()
      }
      try context.refreshAllObjects()
    }
    return refusals
  }
}
