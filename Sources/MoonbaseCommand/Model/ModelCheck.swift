import ArgumentParser
import Moonbase
import MoonbaseModel

/// The command `moonbase model check`. A model is sound if it can be read and resolved. Warnings
/// are about parts that are valid but questionable, such as a relationship without an inverse.
struct ModelCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Says whether a model is sound, and what is questionable about it.",
    discussion: "Exit status: 0 if the model is sound, 1 if it is not; with --strict also 1 if there are warnings.")

  @Argument(
    help: ArgumentHelp("The model: \(ModelFile.forms). Without one that of the project.", valueName: "model"),
    completion: .file())
  var named: String?

  @Flag(help: "Fail on warnings too.")
  var strict = false

  @Flag(help: "Print JSON, also of a model that is not sound.")
  var json = false

  @OptionGroup var project: ProjectOptionGroup

  /// The JSON object of `--json`.
  private struct Report: Encodable {
    /// The path of the model.
    let model: String
    /// Whether the model can be used.
    var sound = true
    /// The number of entities, or nil if the model is not sound.
    var entities: Int?
    /// The warnings in their order.
    var warnings: [String] = []
    /// The errors. A sound model has none.
    var errors: [ReportedMistake] = []
  }

  /// Reads the model, and prints the result.
  ///
  /// - Throws: The error of the model, or an exit code for a failure.
  func run() throws {
    let model = try ModelFile.path(named)
    var report = Report(model: ModelFile.shown(model))
    do {
      let resolved = try ModelFile.read(model)
      report.entities = resolved.entities.count
      report.warnings = resolved.warnings
    } catch {
      let mistakes = (error as? ModelError)?.all ?? [ModelError(.malformedFile, message: "\(error)")]
      report.sound = false
      report.errors = mistakes.map(ReportedMistake.init)
      if json { Terminal.print(try Terminal.json(report)) }
      for mistake in mistakes where !json { Terminal.complain("moonbase: \(mistake)") }
      throw ExitCode(ExitStatus.status(for: error))
    }
    if json { Terminal.print(try Terminal.json(report)) } else { tell(report) }
    if strict, !report.warnings.isEmpty { throw ExitCode(ExitStatus.failed) }
  }

  /// Prints the warnings and the numbers.
  private func tell(_ report: Report) {
    report.warnings.forEach { Terminal.complain("warning: \($0)") }
    let count = report.entities ?? 0
    let entities = count == 1 ? "1 entity" : "\(count) entities"
    let warnings = report.warnings.count == 1 ? "1 warning" : "\(report.warnings.count) warnings"
    Terminal.print("\(report.model): \(entities), \(warnings)")
  }
}
