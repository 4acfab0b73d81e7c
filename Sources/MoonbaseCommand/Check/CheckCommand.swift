import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// `moonbase check`: loads extensions against a model, and reports all mistakes.
///
/// No store is opened. The exit status is a failure if there are findings.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Loads extensions against a model, and lists all that is wrong with them.",
    discussion: """
      moonbase check rules.lua colors.lua --model model.lua

      The files run as extensions, and nothing else does: forms of tables, names of the model, names that two of them give, examples of \
      transformers. In a project the files, and the model, may be left out.

      Exit status: 0 if nothing is wrong, 1 if something is.
      """)

  @Argument(
    help: ArgumentHelp("Extensions, or folders of them; without one those of the project.", valueName: "extension"),
    completion: .file())
  var files: [String] = []

  @OptionGroup var target: TargetOptionGroup
  @OptionGroup var limits: LimitOptionGroup

  @Flag(help: "Print JSON.")
  var json = false

  /// The report for `--json`.
  private struct Report: Encodable {
    /// The paths of the checked files.
    let files: [String]
    /// Whether there are no findings.
    let sound: Bool
    /// The findings, with their places.
    let findings: [ReportedMistake]
  }

  /// Loads the extensions, and prints the findings.
  func run() throws {
    var settings = try target.settings(extensions: files)
    // A missing extension is reported as a finding, so that the other extensions are checked too.
    let named = settings.projectFiles.filter { $0.key == "extensions" }
    settings.projectFiles.removeAll { $0.key == "extensions" }
    let paths = settings.extensions.flatMap(Self.files)
    guard !paths.isEmpty else {
      throw UsageError("there is no extension to check: name one, or give some in a project file, \(Project.fileName)")
    }
    let description = try limits.settings().limiting(settings.container, settings)
    let check = ExtensionFilesCheck(
      try description.openModel(), description, paths, named: named)
    let findings = try check.run()
    if json {
      Terminal.print(
        try Terminal.json(
          Report(files: paths, sound: findings.isEmpty, findings: findings.map(ReportedMistake.init))))
    } else {
      findings.forEach { Terminal.print("\($0)") }
    }
    let count = "\(paths.count) file\(paths.count == 1 ? "" : "s")"
    Terminal.complain(
      "moonbase: \(count), \(findings.isEmpty ? "nothing is wrong" : "\(findings.count) finding\(findings.count == 1 ? "" : "s")")"
    )
    if !findings.isEmpty { throw ExitCode(ExitStatus.failed) }
  }

  /// The path itself, or the extensions in the folder at the path.
  private static func files(_ path: String) -> [String] {
    guard FileIdentity.kind(path) == "folder",
      let names = try? FileManager.default.contentsOfDirectory(atPath: path).filter({ $0.hasSuffix(".lua") }),
      !names.isEmpty
    else { return [path] }
    let folder = path.hasSuffix("/") ? path : path + "/"
    return names.sorted().map { folder + $0 }
  }
}
