import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The command `moonbase test`. `TestFiles` finds the files, `TestRun` runs them, and `TestReport`
/// and `JUnitReport` are formats of the results. The exit status is 1 if a test fails.
struct TestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Runs tests that are written in Lua, over a model and extensions.",
    discussion: """
      moonbase test people_test.lua --model model.lua --extension rules.lua

      A file returns functions by name: return { ["ages count"] = function(t) t.equal(t.context:fetch("Person"):count(), 0) end }. Each test \
      has a context of its own over an empty store in memory. Without files all *_test.lua below the project's folder run, or below the current one.

      Exit status: 0 if all pass, 1 if one fails.
      """)

  @Argument(help: ArgumentHelp("Files of tests, or folders of them.", valueName: "file"), completion: .file())
  var files: [String] = []

  @OptionGroup var target: TargetOptionGroup
  @OptionGroup var scripts: ScriptOptionGroup

  @Option(
    name: StoreOption.modules.parserName, help: StoreOption.modules.parserHelp,
    completion: StoreOption.modules.parserCompletion)
  var extensions: [String] = []

  @Option(help: ArgumentHelp("Run the tests whose names have this text, in any case.", valueName: "text"))
  var filter: String?

  @Option(help: ArgumentHelp("Write the results as JUnit's XML.", valueName: "file"), completion: .file())
  var junit: String?

  @Flag(help: "Print which lines of the extensions' files ran.")
  var coverage = false

  @Flag(help: "Write snapshots anew that differ.")
  var updateSnapshots = false

  @Flag(help: "Run again whenever a file changes.")
  var watch = false

  @Flag(help: "Print the results as JSON, on standard output.")
  var json = false

  @Flag(name: CommandOption.quiet.parserName, help: "No summary, and no word of tests that pass.")
  var quiet = false

  /// Rejects combinations of options that contradict each other.
  func validate() throws {
    if filter == "" { throw ValidationError("--filter takes a part of tests' names") }
    if watch, json { throw ValidationError("--json is for a run that ends: leave --watch out") }
    if json, coverage { throw ValidationError("--coverage prints a table: leave --json out") }
    if watch, junit != nil { throw ValidationError("--junit is for a run that ends: leave --watch out") }
  }

  /// Runs the tests once, or after each change.
  ///
  /// - Throws: An exit code if a test has failed.
  func run() throws {
    guard watch else {
      if try !runOnce(for: nil) { throw ExitCode(ExitStatus.failed) }
      return
    }
    let status = try WatchedRun("test", isQuiet: quiet).repeating { watch in
      try runOnce(for: watch) ? ExitStatus.done : ExitStatus.failed
    }
    throw ExitCode(status)
  }

  /// Runs the tests once. Returns whether all tests passed.
  ///
  /// - Parameter watch: The repeated run, or nil.
  private func runOnce(for watch: WatchedRun?) throws -> Bool {
    let settings = try target.settings(extensions: extensions)
    let paths = try TestFiles.paths(files)
    watch?.begin(paths + [settings.model].compactMap(\.self), extensions: settings.extensions)
    let run = TestRun(
      settings, try scripts.settings(), filter: filter, updatesSnapshots: updateSnapshots, countsLines: coverage,
      tells: !json)
    defer { watch?.end(run.requiredFiles) }
    let results = try run.run(paths)
    results.coverage?.print()
    if let junit { try JUnitReport(results).write(to: junit) }
    if json {
      Terminal.print(try Terminal.json(TestReport(results)))
    } else if !quiet {
      Terminal.complain("moonbase: \(results.summary)")
    }
    if results.count == 0, let filter {
      Terminal.complain("moonbase: no test's name has '\(filter)'")
      return false
    }
    return results.failureCount == 0
  }
}
