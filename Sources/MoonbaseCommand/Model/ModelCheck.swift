import ArgumentParser
import MoonbaseModel

struct ModelCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Says whether a model is sound, and what is questionable about it.")

  @Argument(help: "The model.")
  var model: String

  @Flag(help: "Fail on warnings too.")
  var strict = false

  func run() throws {
    let resolved = try ModelFile.read(model)
    resolved.warnings.forEach { Terminal.complain("warning: \($0)") }
    Terminal.print("\(model): \(resolved.entities.count) entities, \(resolved.warnings.count) warnings")
    if strict, !resolved.warnings.isEmpty { throw ExitCode(ExitStatus.failed) }
  }
}
