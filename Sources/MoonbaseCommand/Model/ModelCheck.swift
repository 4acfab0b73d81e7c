import ArgumentParser
import MoonbaseModel

struct ModelCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Says whether a model is sound, and what is questionable about it.")

  @Argument(help: "The model.")
  var model: String

  @Flag(help: "Fail on warnings too.")
  var strict = false

  @Flag(help: "Print JSON.")
  var json = false

  private struct Report: Encodable {
    let model: String
    let entities: Int
    let warnings: [String]
  }

  func run() throws {
    let resolved = try ModelFile.read(model)
    let report = Report(model: model, entities: resolved.entities.count, warnings: resolved.warnings)
    if json {
      Terminal.print(try Terminal.json(report))
    } else {
      report.warnings.forEach { Terminal.complain("warning: \($0)") }
      let entities = report.entities == 1 ? "1 entity" : "\(report.entities) entities"
      let warnings = report.warnings.count == 1 ? "1 warning" : "\(report.warnings.count) warnings"
      Terminal.print("\(model): \(entities), \(warnings)")
    }
    if strict, !report.warnings.isEmpty { throw ExitCode(ExitStatus.failed) }
  }
}
