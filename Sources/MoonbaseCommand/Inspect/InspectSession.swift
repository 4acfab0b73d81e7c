import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The store that the page shows, with a context and a Lua prompt. The session belongs to the thread that created it.
///
/// `InspectDesk` owns it for the time of the command. Views read through its context, so that
/// unsaved changes are shown, and the prompt uses the same context.
final class InspectSession {
  /// The options of the command.
  let settings: CommandSettings
  /// The context with the objects that the page shows.
  let context: ManagedObjectContext
  /// The Lua prompt, with undo, save and rollback.
  let prompt: ScriptPrompt
  /// Receives the output of scripts.
  let output: InspectOutput
  /// The opened stores and extensions.
  private let container: PersistentContainer
  /// The kept IDs of long results.
  private(set) lazy var pages = InspectPages(self)
  /// Whether other processes have changed a store since the last view.
  private let hasNews = Lock(false)
  /// The observations that set `hasNews`. They end with the session.
  private var watches: [RemoteChangeObservation] = []

  /// Whether the page may change objects.
  var isWritable: Bool { !settings.stores.readOnly }

  /// Opens the store, creates the Lua state, and starts to observe changes of other processes.
  ///
  /// - Parameters:
  ///   - settings: The options of the command.
  ///   - output: Receives the output of scripts.
  /// - Throws: The errors of opening the store and of loading the extensions.
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

  /// The number of steps that can be undone. Older steps are forgotten.
  private static let levelsOfUndo = 200

  /// If the page is read-only, its scripts write no files except for those in `--allow`, and open stores only for
  /// reading.
  ///
  /// - Parameters:
  ///   - maker: Makes the Lua state of the session.
  ///   - scripts: The permissions that the options give.
  private static func keepFromWriting(_ maker: inout ScriptDomainMaker, _ scripts: ScriptSettings) {
    maker.files?.writablePaths = scripts.grants.compactMap { if case .write(let path) = $0 { path } else { nil } }
    guard let opener = maker.opener else { return }
    maker.opener = { description in
      var description = description
      description.setReadOnly()
      return try opener(description)
    }
  }

  /// The model of the context, including the attributes that extensions add.
  var model: ResolvedModel { context.model }

  /// Ends the jobs that scripts have started, and releases the store.
  ///
  /// It must be called on the thread that created the session.
  func close() {
    for watch in watches { watch.cancel() }
    prompt.finish()
    prompt.domain.close()
  }

  /// Reads the changes of other processes. Objects with unsaved changes are not refreshed, and saving them fails with
  /// the conflict.
  ///
  /// It is called before each view. Without a change of another process, it costs nothing.
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
  ///
  /// - Parameter body: Reads or changes objects.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of `body`, and the error of an exceeded limit or an interruption.
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
  ///
  /// A getter of an extension may change an object, although the page only reads.
  func discardChanges() -> String? {
    let count = prompt.unsavedCount
    guard !isWritable, count > 0 else { return nil }
    try? prompt.rollback()
    return "the store is only read, so the changes of \(count == 1 ? "1 object" : "\(count) objects") were given up: "
      + "start moonbase inspect with --write to keep changes"
  }

  /// The object for a text, which is a short name such as `Person/12` or a URI.
  ///
  /// - Parameter text: The name. Temporary IDs of new objects are accepted too.
  /// - Throws: An `InspectRefusal` with status 400 for no name, and 404 for an unknown object.
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
  ///
  /// - Parameter id: The ID of an object of the session's stores.
  func name(of id: ManagedObjectID) -> String {
    if id.isTemporaryID { return id.uriRepresentation }
    return context.coordinator.managedObjectID(named: id.short) == id ? id.short : id.uriRepresentation
  }

  /// The entity with a name.
  ///
  /// - Throws: An `InspectRefusal` with status 400 for no name, and `.unknownName` for an unknown
  ///   entity.
  func entity(_ name: String?) throws -> ResolvedEntity {
    guard let name, !name.isEmpty else { throw InspectRefusal(400, "the request names no entity") }
    guard let entity = model.entity(name) else { throw GraphError.unknownEntity(name, in: model) }
    return entity
  }

  /// The file of the store that contains an object, or nil if there is none.
  ///
  /// Views that read facts from the file use it. A store in memory has no file.
  func file(of id: ManagedObjectID) -> URL? {
    guard let store = id.storeIdentifier else { return nil }
    return context.coordinator.persistentStores.first { $0.identifier == store }?.url
  }

  /// The state that accompanies every view: the number of unsaved changes, and the names of the steps to undo and to
  /// redo.
  ///
  /// It also says whether the page may change objects.
  var state: InspectJSON {
    let undo = context.undoManager
    return [
      "writable": .bool(isWritable), "unsaved": .int(prompt.unsavedCount),
      "undo": undo?.canUndo == true ? .string(Self.firstLine(undo?.undoActionName)) : .null,
      "redo": undo?.canRedo == true ? .string(Self.firstLine(undo?.redoActionName)) : .null,
    ]
  }

  /// The first line of an undo step's name, cut to 80 characters.
  private static func firstLine(_ text: String?) -> String {
    let line = (text ?? "").split(separator: "\n").first.map(String.init) ?? ""
    return line.count > 80 ? line.prefix(80) + "…" : line
  }
}

/// The reason why a request cannot be answered, with its HTTP status.
///
/// Routes throw it for requests that are wrong by themselves. Failures of the data are thrown as
/// `GraphError`.
struct InspectRefusal: Error {
  /// The HTTP status, such as 404.
  let status: Int
  /// The message that the page shows.
  let message: String

  /// Creates the error for a request.
  ///
  /// - Parameters:
  ///   - status: The HTTP status.
  ///   - message: The message.
  init(_ status: Int, _ message: String) { (self.status, self.message) = (status, message) }
}
