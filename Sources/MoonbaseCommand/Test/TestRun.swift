import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// Runs test files, and prints each failure immediately.
///
/// The extensions are loaded once. Each file gets a Lua state, and each test gets a context over an
/// empty store in memory. The object is used for a single run.
final class TestRun {
  /// The model and the extensions.
  private let settings: StoreSettings
  /// The permissions and limits of tests.
  private let scripts: ScriptSettings
  /// The part of the names in lower case, or nil for all tests.
  private let filter: String?
  /// Whether snapshots that differ are replaced.
  private let updatesSnapshots: Bool
  /// The modules that tests required or tried to require.
  private(set) var requiredFiles: [String] = []
  /// Counts the executed lines of extensions, or nil without `--coverage`.
  private let coverage: LuaCoverage?
  /// Whether failures are printed immediately.
  private let tells: Bool

  /// Creates a run. No file is read yet.
  ///
  /// - Parameters:
  ///   - settings: The model and the extensions.
  ///   - scripts: The permissions and limits of tests.
  ///   - filter: The part of the names, in any case.
  ///   - updatesSnapshots: Whether snapshots that differ are replaced.
  ///   - countsLines: Whether executed lines are counted.
  ///   - tells: Whether failures are printed immediately.
  init(
    _ settings: StoreSettings, _ scripts: ScriptSettings, filter: String?, updatesSnapshots: Bool, countsLines: Bool,
    tells: Bool
  ) {
    self.tells = tells
    coverage = countsLines ? LuaCoverage() : nil
    (self.settings, self.scripts, self.filter) = (settings, scripts, filter?.lowercased())
    self.updatesSnapshots = updatesSnapshots
  }

  /// Runs the files in their order.
  ///
  /// - Parameter paths: The paths of the files.
  /// - Throws: The errors of loading the extensions.
  func run(_ paths: [String]) throws -> TestResults {
    guard let coverage else { return try runFiles(paths).results }
    var (results, names) = try LuaCoverage.$current.withValue(coverage) { try runFiles(paths) }
    results.coverage = CoverageReport(coverage, of: names)
    return results
  }

  /// Runs the files. Also returns the names of the extension files. After the call, the Lua states are closed and their
  /// executed lines are counted.
  private func runFiles(_ paths: [String]) throws -> (results: TestResults, names: [String]) {
    let begin = ContinuousClock.now
    var results = TestResults()
    let extensions = try loadedExtensions()
    for path in paths {
      let file = run(path, extensions)
      if tells { file.results.filter { !$0.isPassed }.forEach { tell($0, in: path) } }
      if let ending = file.ending { throw ending }
      results.files.append(file)
    }
    results.seconds = (ContinuousClock.now - begin) / .seconds(1)
    return (results, extensions.namesOfFiles)
  }

  /// Loads the extensions over a store in memory.
  private func loadedExtensions() throws -> ScriptExtensions {
    var description = try scripts.limiting(settings.container, settings)
    description.model = .value(try description.openModel())
    description.stores = [.inMemory]
    return try PersistentContainer(description).extensions
  }

  /// Runs a file. If the file cannot be run, this counts as a failed test.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - extensions: The loaded extensions.
  private func run(_ path: String, _ extensions: ScriptExtensions) -> TestResults.File {
    var tests = ScriptTests(extensions)
    tests.maker = scripts.maker(forScriptsIn: path.folderOfPath, settings)
    tests.snapshotFolder = URL(literalPath: path.folderOfPath + "/snapshots")
    tests.updatesSnapshots = updatesSnapshots
    if let filter { tests.filter = { $0.lowercased().contains(filter) } }
    tests.noteFiles = { [unowned self] in requiredFiles += $0 }
    do {
      let isProgram = scripts.sandbox == .trusted
      let source = try ScriptSource(path: path, isProgram: isProgram, limit: scripts.limits.sourceSize)
      return TestResults.File(path: path, results: try tests.run(source))
    } catch {
      let form = access(path, F_OK) != 0 ? ": \(ScriptTests.form)" : ""
      let result = ScriptTests.Result(name: "the file", failure: "\(error)\(form)", place: nil, duration: .zero)
      let isEnding = [ExitStatus.limit, ExitStatus.interrupted].contains(ExitStatus.status(for: error))
      return TestResults.File(path: path, results: [result], ending: isEnding ? error : nil)
    }
  }

  /// Prints a failure with its position.
  private func tell(_ result: ScriptTests.Result, in path: String) {
    Terminal.print("\(result.place ?? path): \(result.name): \(result.failure ?? "")")
  }
}

/// The results of tests.
///
/// `TestRun` fills it, and the formats of the results read it.
struct TestResults {
  /// The results of a file.
  struct File {
    /// The path of the file.
    let path: String
    /// The results of its tests, in the order of their execution.
    let results: [ScriptTests.Result]
    /// The limit that ended the run.
    var ending: (any Error)?
  }

  /// The results by file.
  var files: [File] = []
  /// The elapsed time in seconds.
  var seconds = 0.0
  /// The executed lines of the extensions, if they were requested.
  var coverage: CoverageReport?

  /// The number of tests.
  var count: Int { files.reduce(0) { $0 + $1.results.count } }
  /// The number of tests that failed.
  var failureCount: Int { files.reduce(0) { $0 + $1.results.count { !$0.isPassed } } }

  /// A summary such as `12 tests in 2 files: 11 passed, 1 failed; 0.3 s`.
  var summary: String {
    let tests = count == 1 ? "1 test" : "\(count) tests"
    let places = files.count == 1 ? "1 file" : "\(files.count) files"
    let failed = failureCount > 0 ? ", \(failureCount) failed" : ""
    return "\(tests) in \(places): \(count - failureCount) passed\(failed); \(String(format: "%.1f s", seconds))"
  }
}
