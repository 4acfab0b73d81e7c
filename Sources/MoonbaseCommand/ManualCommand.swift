import ArgumentParser

/// The command `moonbase manual`. It prints the text of `ManualPage` in the format of roff.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Prints the manual page, made of the help.",
    discussion: "moonbase manual > moonbase.1 && man -l moonbase.1")

  func run() throws { Terminal.write(try ManualPage.text()) }
}
