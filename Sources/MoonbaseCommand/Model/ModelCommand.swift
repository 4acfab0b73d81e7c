import ArgumentParser

/// The command `moonbase model`. It has a subcommand for each task and does nothing itself.
struct ModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model",
    abstract: "Shows, checks, compares, converts and draws models.",
    subcommands: [
      ModelShow.self, ModelCheck.self, ModelDiff.self, ModelConvert.self, ModelDiagramCommand.self, ModelSwift.self,
      ModelTypes.self,
    ])
}
