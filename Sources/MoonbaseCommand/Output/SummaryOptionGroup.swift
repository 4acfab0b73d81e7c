import ArgumentParser
import MoonbaseModel

/// The option of commands that print no rows. It prints a report as a JSON object on standard output.
///
/// Commands such as `import` and `backup` use it.
struct SummaryOptionGroup: ParsableArguments {
  @Flag(help: "Print what was done as JSON, on standard output.")
  var json = false

  /// Prints the object with `--json`. Otherwise, prints the lines on standard error, unless `quiet` is true.
  ///
  /// - Parameters:
  ///   - summary: The members of the JSON object.
  ///   - quiet: Whether the lines are suppressed.
  ///   - lines: The lines for people. They are only created if they are printed.
  func tell(_ summary: [String: Value], quiet: Bool, lines: @autoclosure () -> [String]) throws {
    if json { return Terminal.print(try Terminal.json(ReportValue(.map(summary)))) }
    if !quiet { lines().forEach { Terminal.complain("moonbase: \($0)") } }
  }
}

extension Value {
  /// A text, or an empty value.
  static func text(_ text: String?) -> Value { text.map(Value.string) ?? .null }

  /// A whole number.
  static func count(_ number: Int) -> Value { .int(Int64(number)) }

  /// A list of texts.
  static func texts(_ texts: some Sequence<String>) -> Value { .list(texts.map(Value.string)) }

  /// A number of seconds, rounded to milliseconds.
  static func seconds(_ seconds: Double) -> Value { .double((seconds * 1000).rounded() / 1000) }
}
