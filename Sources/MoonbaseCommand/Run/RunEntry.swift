import ArgumentParser

/// The entry of `run` in the list of commands. It is never parsed: `Main` runs scripts before the parser is asked.
struct RunEntry: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs Lua scripts over a store.",
    usage: "moonbase run [options] [-e CODE]... [SCRIPT [ARG...]]",
    discussion: "Its options: moonbase run --help")
}
