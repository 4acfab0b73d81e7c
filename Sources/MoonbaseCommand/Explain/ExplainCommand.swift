import ArgumentParser
import MoonbasePlatform

/// `moonbase explain`: prints the page of an error, or the list of all errors.
struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Explains an error by its number or name.",
    discussion: "moonbase explain 1570\nWithout a number it lists all errors.")

  @Argument(help: "The number, or the name.")
  var error: String?

  /// Throws `UsageError` for an unknown number or name, with a suggestion.
  func run() throws {
    guard let error else {
      let width = ErrorPage.entries.map(\.name.count).max() ?? 0
      for entry in ErrorPage.entries {
        let name = entry.name.padding(toLength: width, withPad: " ", startingAt: 0)
        let number = String(repeating: " ", count: max(0, 6 - entry.number.count)) + entry.number
        Terminal.print("\(number)  \(name)  \(ErrorPage.plain(entry.meaning))")
      }
      return
    }
    guard let entry = ErrorPage.entries.first(where: { [$0.number, $0.name].contains(error) }) else {
      if Int(error) != nil {
        throw UsageError(
          "\(error) is no number of Moonbase: a rule of an extension may have given it (code); 'moonbase explain' lists all"
        )
      }
      let names = ErrorPage.entries.map(\.name)
      throw UsageError(
        "there is no error '\(error)'\(suggestion(for: error, among: names)); 'moonbase explain' lists all")
    }
    Terminal.print(entry.text(width: min(TerminalWidth.columns, 100)))
  }
}
