import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The store that the page shows, with a context and a Lua prompt. The session belongs to the thread that created it.
final class InspectSession {
  let settings: CommandSettings
  let context: ManagedObjectContext
  let prompt: ScriptPrompt
  let output: InspectOutput
  private let container: PersistentContainer
  private(set) lazy var pages = InspectPages(self)
  /// Whether other processes have changed a store since the last view.
  private let hasNews = Lock(false)
  private var watches: [RemoteChangeObservation] = []

  /// Whether the page may change objects.
  var isWritable: Bool { !settings.stores.readOnly }

  init(_ settings: CommandSettings, _ output: InspectOutput) throws {
    (self.settings, self.output) = (settings, output)
    let (stores, scripts) = (settings.stores, settings.scripts)
    scripts.boundSQLite()
    var maker = scripts.maker(
      scriptFolders: [], moduleFolders: (scripts.noFiles ? [] : ["."]) + scripts.readableFolders, stores)
    maker.makeOutput = { output.taking }
    if stores.readOnly { Self.keepFromWriting(&maker, scripts) }
    let domain = try scripts.domain(of: maker)
    prompt = try ScriptPrompt(domain, name: "input")
    container = try PersistentContainer(scripts.limiting(stores.container, stores))
    context = try domain.context(of: container.opened)
    // The page must show the current rows.
    context.stalenessInterval = .zero
    try domain.setContext(context)
    try prompt.nameContext()
    prompt.notesUndo(levels: Self.levelsOfUndo)
    output.add(domain.state.interrupter)
    watches = context.coordinator.persistentStores.compactMap { store in
      store.observeRemoteChanges { [hasNews] _ in hasNews.withLock { $0 = true } }
    }
  }

  private static let levelsOfUndo = 200

  /// If the page is read-only, its scripts write no files except for those in `--allow`, and open stores only for
  /// reading.
  private static func keepFromWriting(_ maker: inout ScriptDomainMaker, _ scripts: ScriptSettings) {
    maker.files?.writablePaths = scripts.grants.compactMap { if case .write(let path) = $0 { path } else { nil } }
    guard let opener = maker.opener else { return }
    maker.opener = { description in
      var description = description
      description.setReadOnly()
      return try opener(description)
    }
  }

  var model: ResolvedModel { context.model }

  /// Ends the jobs that scripts have started, and releases the store.
  func close() {
    for watch in watches { watch.cancel() }
    prompt.finish()
    prompt.domain.close()
  }

  /// Reads the changes of other processes. Objects with unsaved changes are not refreshed, and saving them fails with
  /// the conflict.
  func followOthers() {
    let isStale = hasNews.withLock { hasNews in
      defer { hasNews = false }
      return hasNews
    }
    guard isStale else { return }
    for object in context.registeredObjects where !object.hasChanges {
      // If a hook fails, the object is a fault. Reading it reports the error again.
      try? context.refresh(object, mergeChanges: false)
    }
  }

  /// Runs `body` under the limits of scripts. Extension functions that it calls can be interrupted.
  func perform<Result>(_ body: () throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    let ending = prompt.ending {
      do { result = .success(try body()) } catch {
        result = .failure(error)
        throw error
      }
    }
    switch (result, ending) {
    case (.failure(let error), _): throw error
    case (.success(let value), .done): return value
    case (_, .failed(_, let message)): throw InspectRefusal(500, message)
    case (_, .exit), (nil, _): throw InspectRefusal(500, "a script ended the request")
    }
  }

  /// Rolls back changes that a script or a getter made in a read-only store. Returns a message about the changes, or
  /// nil if there were none.
  func discardChanges() -> String? {
    let count = prompt.unsavedCount
    guard !isWritable, count > 0 else { return nil }
    try? prompt.rollback()
    return "the store is only read, so the changes of \(count == 1 ? "1 object" : "\(count) objects") were given up: "
      + "start moonbase inspect with --write to keep changes"
  }

  /// The object for a text, which is a short name such as `Person/12` or a URI.
  func object(_ text: String?) throws -> ManagedObject {
    guard let text, !text.isEmpty else { throw InspectRefusal(400, "the request names no object") }
    if let new = context.insertedObjects.first(where: { $0.objectID.uriRepresentation == text }) { return new }
    guard let id = context.coordinator.managedObjectID(named: text) else {
      throw InspectRefusal(404, "there is no object \(text.prefix(200)): IDs are written as Person/12")
    }
    if let known = context.registeredObject(for: id), known.isDeleted { return known }
    guard let object = try context.existingObject(with: id) else {
      throw InspectRefusal(404, "there is no object \(text.prefix(200)) any more")
    }
    return object
  }

  /// The shortest name for which `object` returns the object.
  func name(of id: ManagedObjectID) -> String {
    if id.isTemporaryID { return id.uriRepresentation }
    return context.coordinator.managedObjectID(named: id.short) == id ? id.short : id.uriRepresentation
  }

  func entity(_ name: String?) throws -> ResolvedEntity {
    guard let name, !name.isEmpty else { throw InspectRefusal(400, "the request names no entity") }
    guard let entity = model.entity(name) else { throw GraphError.unknownEntity(name, in: model) }
    return entity
  }

  /// The file of the store that contains an object, or nil if there is none.
  func file(of id: ManagedObjectID) -> URL? {
    guard let store = id.storeIdentifier else { return nil }
    return context.coordinator.persistentStores.first { $0.identifier == store }?.url
  }

  /// The state that accompanies every view: the number of unsaved changes, and the names of the steps to undo and to
  /// redo.
  var state: InspectJSON {
    let undo = context.undoManager
    return [
      "writable": .bool(isWritable), "unsaved": .int(prompt.unsavedCount),
      "undo": undo?.canUndo == true ? .string(Self.firstLine(undo?.undoActionName)) : .null,
      "redo": undo?.canRedo == true ? .string(Self.firstLine(undo?.redoActionName)) : .null,
    ]
  }

  private static func firstLine(_ text: String?) -> String {
    let line = (text ?? "").split(separator: "\n").first.map(String.init) ?? ""
    return line.count > 80 ? line.prefix(80) + "…" : line
  }
}

/// The reason why a request cannot be answered, with its HTTP status.
struct InspectRefusal: Error {
  let status: Int
  let message: String

  init(_ status: Int, _ message: String) { (self.status, self.message) = (status, message) }
}
