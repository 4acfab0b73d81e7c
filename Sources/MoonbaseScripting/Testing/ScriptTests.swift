import MoonbaseGraph
import MoonbaseLua
public import MoonbaseModel
public import MoonbasePlatform

/// Runs test files, written in Lua, over a model and extensions.
///
/// ```swift
/// let tests = try ScriptTests(model: model, extensions: [.file(colorsURL)])
/// for result in try tests.run(ScriptSource(contentsOf: testURL)) where !result.isPassed {
///   print(result.name, result.failure ?? "")
/// }
/// ```
///
/// A file returns functions by name: `return { ["ages count"] = function(t) t.equal(t.context:fetch("Person"):count(),
/// 0) end }`. Each test has its own state, context and store in memory, in which the file runs again.
///
/// A value with settings; change them before `run`. Tests cannot influence each other, since nothing is shared but the
/// files of snapshots. Not safe to use on several threads at once.
public struct ScriptTests {
  /// The outcome of a test.
  public struct Result: Sendable, Equatable {
    /// The test's name.
    public var name: String
    /// The reason of the failure; nil for a passed test.
    public var failure: String?
    /// The file and line of the failure, as `people_test.lua:12`; for a passed test, of its beginning.
    public var place: String?
    /// The duration of the test.
    public var duration: Duration

    /// Whether the test passed.
    public var isPassed: Bool { failure == nil }

    /// A result with these values.
    public init(name: String, failure: String? = nil, place: String? = nil, duration: Duration) {
      (self.name, self.failure, self.place, self.duration) = (name, failure, place, duration)
    }
  }

  /// Makes the Lua states.
  public var maker = ScriptDomainMaker()
  /// The folder of the snapshots for `t.snapshot`; nil if there are none.
  public var snapshotFolder: URL?
  /// Selects the tests to run by name; nil runs all.
  public var filter: ((String) -> Bool)?
  /// Receives the files that a state required or tried to require.
  package var noteFiles: (([String]) -> Void)?
  /// Whether differing snapshots are overwritten.
  public var updatesSnapshots = false

  /// The extensions under test.
  private let extensions: ScriptExtensions

  /// Loads the extensions. Throws as `ScriptExtensions` does.
  public init(model: ManagedObjectModel, extensions: [ExtensionSource] = []) throws {
    self.init(try ScriptExtensions(extensions, for: model))
  }

  /// Uses loaded extensions.
  public init(_ extensions: ScriptExtensions) { self.extensions = extensions }

  /// Runs the tests of a file in the order of the file.
  ///
  /// Throws for a file that does not run, and for a file that returns no table of functions. A failing test is a
  /// result, not an error.
  public func run(_ source: ScriptSource) throws -> [Result] {
    try names(in: source).filter { filter?($0) != false }.map { try run($0, of: source) }
  }

  // MARK: Files

  /// The names of the tests in the order of their lines, which Lua's tables do not keep. Runs the file once.
  private func names(in source: ScriptSource) throws -> [String] {
    let domain = try maker.make()
    defer { close(domain) }
    try domain.setContext(makeContext(in: domain))
    let found = try ScriptError.telling { try domain.state.run { try tests(of: source, in: domain) } }
    guard !found.isEmpty else { throw Self.malformed(source, "an empty table") }
    return found.sorted { ($0.line, $0.name) < ($1.line, $1.name) }.map(\.name)
  }

  /// A context over an empty store in memory, with the extensions.
  private func makeContext(in domain: ScriptDomain) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    try coordinator.add(InMemoryStore(model: extensions.resolvedModel))
    return try domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions))
  }

  /// Notes the required files and the coverage, then closes the domain.
  private func close(_ domain: ScriptDomain) {
    noteFiles?(domain.state.requiredFiles + domain.state.missingFiles)
    domain.state.noteCoverage()
    domain.close()
  }

  /// A test of a file.
  private struct Test {
    var name: String
    /// The line of the function, for the order.
    var line: Int
    var function: LuaFunction
  }

  /// Runs the file and reads the returned table. Throws `.malformedFile` for other results.
  private func tests(of source: ScriptSource, in domain: ScriptDomain) throws -> [Test] {
    let results = try domain.state.load(source.text, name: source.name).call([])
    guard case .table(let table)? = results.first else {
      throw Self.malformed(source, results.first.map(\.typePhrase) ?? "nothing")
    }
    return try table.pairs.map { key, value -> Test in
      guard let name = key.textValue else { throw Self.malformed(source, "a list: give each test a name") }
      guard case .function(let function) = value else {
        throw Self.malformed(source, "\(value.typePhrase) as \(name)")
      }
      let line = function.place?.split(separator: ":").last.flatMap { Int($0) } ?? 0
      return Test(name: name, line: line, function: function)
    }
  }

  /// The form of a test file, for messages.
  package static let form =
    "a file of tests returns a table of functions by name, as { [\"adds\"] = function(t) ... end }"

  /// The `.malformedFile` error that names what the file returned.
  private static func malformed(_ source: ScriptSource, _ found: String) -> ScriptError {
    ScriptError(
      .malformedFile,
      message:
        "\(form), not \(found)",
      at: SourceLocation(file: source.name))
  }

  // MARK: Tests

  /// Runs a test in its own state. An unread failure makes the test fail too.
  private func run(_ name: String, of source: ScriptSource) throws -> Result {
    let domain = try maker.make()
    defer { close(domain) }
    let begin = ContinuousClock.now
    var result = Result(name: name, duration: .zero)
    do {
      let context = try makeContext(in: domain)
      try domain.setContext(context)
      try domain.state.run {
        guard let test = try tests(of: source, in: domain).first(where: { $0.name == name })?.function else { return }
        result.place = test.place
        _ = try test.call([.table(try tools(for: name, of: source, context, in: domain))])
        try domain.finishJobs()
        domain.contexts.waitForPendingSaves()
      }
      if let unseen = domain.unseenFailure {
        result.failure = "\(unseen.cause.rawValue): \(unseen.error.text)"
        result.place = unseen.error.place ?? result.place
      }
    } catch {
      domain.cancelJobs()
      describe(error, in: &result)
    }
    result.duration = ContinuousClock.now - begin
    return result
  }

  /// Sets message and place of a failure.
  private func describe(_ error: any Error, in result: inout Result) {
    guard let error = error as? LuaError else { return result.failure = "\(error)" }
    result.failure = error.message
    if let script = error.script, let line = error.line { result.place = "\(script):\(line)" }
  }

  /// The argument of a test: `equal`, `fails`, `snapshot` and `context`. `t.snapshot` numbers the snapshots of a test
  /// from 1.
  private func tools(
    for name: String, of source: ScriptSource, _ context: ManagedObjectContext, in domain: ScriptDomain
  ) throws -> LuaTable {
    var count = 0
    let snapshot = try domain.state.makeFunction { call in
      count += 1
      let problem = try compare(try call.text(0), with: "\(name) \(count)", of: source)
      try call.return(problem.map(LuaValue.text) ?? .nil)
    }
    let made = try domain.state.load(Self.tools, name: "=moonbase.test").call([.function(snapshot)])
    guard case .table(let tools)? = made.first else { return try domain.state.table() }
    try tools.set("context", to: .object(domain.types.context.handle(context)))
    try domain.state.describe(tools, as: "t")
    return tools
  }

  // MARK: Snapshots

  /// The difference between a value and its snapshot; nil if there is none. A new value is written. The file is named
  /// after the test file, the test and the number. With `updatesSnapshots` a differing value is written.
  private func compare(_ text: String, with name: String, of source: ScriptSource) throws -> String? {
    guard let folder = snapshotFolder else { return "there is no folder for snapshots: the host names one" }
    let file = folder.appendingPathComponent(Self.fileName(source.name + " " + name))
    if let old = try? String(contentsOf: file, encoding: .utf8), !updatesSnapshots {
      return old == text ? nil : "the value is \(text), and \(file.lastPathComponent) has \(old)"
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file, options: .atomic)
    return nil
  }

  /// A file name with letters, digits and `._-` only, at most 120 characters before the extension.
  private static func fileName(_ text: String) -> String {
    let name = text.split(separator: "/").last.map(String.init) ?? text
    return String(name.map { $0.isLetter || $0.isNumber || "._-".contains($0) ? $0 : "_" }.prefix(120)) + ".txt"
  }
}
