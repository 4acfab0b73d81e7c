import ArgumentParser
import MoonbaseModel
import MoonbasePlatform

/// The names of commands, looked at before the argument parser is: it would only say that an argument is unexpected.
enum CommandNames {
  /// What is wrong with the command's name, with the nearest right one; nil where nothing is.
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
