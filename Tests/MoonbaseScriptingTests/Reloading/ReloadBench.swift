import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// A folder of extensions over a store, whose files change.
final class ReloadBench {
  let folder: TemporaryFolder
  let extensions: ScriptExtensions
  let coordinator: PersistentStoreCoordinator

  static let model = """
    return { entities = { P = {
      attributes = { s = "string", i = "integer64", kept = "string" },
      relationships = { q = { to = "P", inverse = "qs" }, qs = { to_many = "P", inverse = "q" } },
    } } }
    """

  convenience init(_ files: [String: String]) throws { try self.init(.memory, files) }

  init(_ kind: StoreKind, _ files: [String: String], beside swift: [ExtensionSource] = []) throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.file("e"), withIntermediateDirectories: true)
    for (name, text) in files { try Data(text.utf8).write(to: folder.file("e/\(name)")) }
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Self.model))
    extensions = try ScriptExtensions([.directory(folder.file("e"))] + swift, for: model)
    coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    try coordinator.add(kind.store(for: extensions.resolvedModel, in: folder))
  }

  func context() throws -> ManagedObjectContext { try ManagedObjectContext(coordinator, extensions: extensions) }

  /// Writes a file atomically, so that a watch never sees a part of the text.
  func write(_ text: String, to name: String = "a.lua") throws {
    try Data(text.utf8).write(to: folder.file("e/\(name)"), options: .atomic)
  }

  func reload(_ text: String, to name: String = "a.lua") throws {
    try write(text, to: name)
    try extensions.reload()
  }

  /// An extension with a label that contains its version, and further parts.
  static func labelled(_ version: Int, _ more: String = "", top: String = "", derived: String = "") -> String {
    """
    return { name = "a", version = "1.\(version)", \(top) entities = { P = {
      derived = { label = { type = "string", inputs = { "s" }, get = function(s) return s .. "\(version)" end },
        \(derived) },
      \(more)
    } } }
    """
  }
}

/// The outcomes that a handler received, for a test that waits for them.
final class Heard: Sendable {
  private let outcomes = Lock<[ExtensionOutcome]>([])
  private let news = DispatchSemaphore(value: 0)

  var all: [String] { outcomes.withLock { $0.map { "\($0)" } } }

  func add(_ outcome: ExtensionOutcome) {
    outcomes.withLock { $0.append(outcome) }
    news.signal()
  }

  /// The next outcome as text, or a text that there was none within some seconds.
  func next() -> String {
    guard news.wait(timeout: .now() + 20) == .success else { return "nothing was heard" }
    return outcomes.withLock { $0.isEmpty ? "" : "\($0.removeFirst())" }
  }

  /// The next outcome of a complete file, since a slow machine may see a partial one first.
  func nextOfAWholeFile() -> String {
    var outcome = next()
    while outcome.hasPrefix("the extensions stay as they are: ") { outcome = next() }
    return outcome
  }

  /// Whether no outcome comes within the time.
  func isQuiet(for milliseconds: Int) -> Bool {
    guard news.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return true }
    news.signal()
    return false
  }
}
