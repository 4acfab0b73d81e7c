import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// docs/commands.md names every command and every option of the argument parser.
@Suite struct OptionDocumentTests {
  private struct Help: Decodable {
    let command: Command
  }

  private struct Command: Decodable {
    let commandName: String
    let arguments: [Argument]?
    let subcommands: [Command]?
  }

  private struct Argument: Decodable {
    let names: [Name]?
    let shouldDisplay: Bool
  }

  private struct Name: Decodable {
    let kind: String
    let name: String
  }

  /// The options of a command and its subcommands, with the command in front.
  private func options(of command: Command) -> [(command: String, option: String)] {
    let names = (command.arguments ?? []).filter(\.shouldDisplay).flatMap { $0.names ?? [] }.filter {
      $0.kind == "long"
    }
    return names.map { (command.commandName, "--" + $0.name) } + (command.subcommands ?? []).flatMap(options)
  }

  @Test func everyOptionIsInTheDocument() throws {
    let bench = try Workbench()
    let help = try JSONDecoder().decode(
      Help.self, from: Data(bench.moonbase("--experimental-dump-help").output.utf8))
    let text = try String(contentsOf: Workbench.checkout.appendingPathComponent("docs/commands.md"), encoding: .utf8)
    let words = Set(text.matches(of: #/--[a-z][a-z-]*[a-z]/#).map { String($0.output) })
    let options = options(of: help.command).filter { $0.command != "help" && $0.option != "--help" }
    #expect(options.count > 150)
    for (command, option) in options {
      #expect(words.contains(option), "docs/commands.md does not name \(option) of \(command)")
    }
    for command in help.command.subcommands ?? [] where command.commandName != "help" {
      let line = "| `\(command.commandName)"
      #expect(
        text.contains("\(line) ") || text.contains("\(line)`"),
        "docs/commands.md has no line for \(command.commandName)")
    }
  }
}
