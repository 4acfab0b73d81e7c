import ArgumentParser
import MoonbaseModel
import MoonbasePlatform

/// Checks the names of commands before the argument parser does, because the parser would only report an unexpected
/// argument.
enum CommandNames {
  /// A message about a wrong command name, with the nearest correct name. Nil if the name is correct.
  ///
  /// `arguments` are the words behind `moonbase`. Subcommands are followed until the first option.
  static func problem(with arguments: [String]) -> String? {
    var command: any ParsableCommand.Type = RootCommand.self
    var path = "moonbase"
    for argument in arguments {
      let known = command.configuration.subcommands
      if known.isEmpty || argument.hasPrefix("-") || argument == "help" { return nil }
      guard let next = known.first(where: { $0.configuration.commandName == argument }) else {
        let names = known.compactMap { $0.configuration.commandName }
        return """
          there is no command '\(argument)', there are \(names.joined(separator: ", "))\
          \(suggestion(for: argument, among: names))
          Usage: \(path) <subcommand>
          See '\(path) --help'.
          """
      }
      command = next
      path += " \(argument)"
    }
    return nil
  }
}
