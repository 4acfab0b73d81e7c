import ArgumentParser

struct ModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model",
    abstract: "Shows, checks and compares models.",
    subcommands: [ModelShow.self, ModelCheck.self, ModelDiff.self, ModelTypes.self])
}
