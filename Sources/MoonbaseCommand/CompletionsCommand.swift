import ArgumentParser

/// `moonbase completions`: prints the completion script of a shell.
///
/// The script calls the command again for names of the model; see `ModelNames`.
struct CompletionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completions", abstract: "Prints completions of commands and options for a shell.",
    discussion: """
      source <(moonbase completions bash)

      For zsh the text goes into a file _moonbase in a folder of fpath, for fish into ~/.config/fish/completions/moonbase.fish.
      """)

  /// The shells with completions.
  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case bash, zsh, fish

    /// The shell in the parser's terms.
    fileprivate var shell: CompletionShell {
      switch self {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    }
  }

  @Argument(help: "The shell.")
  var shell: Shell

  /// Prints the script.
  func run() { Terminal.print(RootCommand.completionScript(for: shell.shell)) }
}
