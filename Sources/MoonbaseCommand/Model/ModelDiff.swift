import ArgumentParser
import MoonbaseModel

struct ModelDiff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Prints how two models differ and whether a store has to be migrated.",
    discussion: "Exit status: 0 if the models say the same, 1 if they differ.")

  @Argument(help: "The older model.")
  var old: String

  @Argument(help: "The newer model.")
  var new: String

  func run() throws {
    let difference = ModelDifference(from: try ModelFile.read(old).description, to: try ModelFile.read(new).description)
    guard !difference.isEmpty else {
      Terminal.print("the models say the same")
      return
    }
    Terminal.print("\(difference)")
    Terminal.print(
      difference.needsMigration
        ? "a store of the one must be migrated to open with the other"
        : "the version hashes agree: a store of the one opens with the other")
    throw ExitCode(ExitStatus.failed)
  }
}
