import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase explain` prints what `docs/errors.md` says of an error; `TutorialTests` runs the examples of the page.
@Suite struct ExplainTests {
  private static func page() throws -> String {
    try String(contentsOf: Workbench.checkout.appendingPathComponent("docs/errors.md"), encoding: .utf8)
  }

  @Test func anErrorIsExplainedByItsNumberAndByItsName() throws {
    let bench = try Workbench()
    let byNumber = try bench.moonbase("explain", "1570")
    #expect(byNumber.status == 0 && byNumber.complaints.isEmpty)
    #expect(byNumber.output.hasPrefix("1570 missingMandatoryProperty\n\nA required value is missing."))
    for words in ["- Causes: ", "- Remedy: ", "    nil\tPerson.name is required and missing\n"] {
      #expect(byNumber.output.contains(words), "\(byNumber.output)")
    }
    #expect(!byNumber.output.contains("`"))
    #expect(try bench.moonbase("explain", "missingMandatoryProperty").output == byNumber.output)
  }

  @Test func everyErrorOfThePageHasASection() throws {
    let bench = try Workbench()
    let list = try bench.moonbase("explain").output.split(separator: "\n")
    let table = try Self.page().matches(of: /(?m)^\| (\d+) \| `(\w+)` \|/)
    #expect(table.count > 50 && list.count == table.count)
    for (line, row) in zip(list, table) {
      #expect(line.split(separator: " ").prefix(2) == [row.1, row.2])
      let section = try bench.moonbase("explain", String(row.1)).output
      #expect(section.contains("- Causes: ") && section.contains("- Remedy: "), "\(row.1)")
    }
  }

  @Test func whatIsNoErrorOfMoonbaseIsSaid() throws {
    let bench = try Workbench()
    let name = try bench.moonbase("explain", "mergeConflct")
    #expect(name.status == 2 && name.complaints.contains("did you mean mergeConflict?"), "\(name)")
    let number = try bench.moonbase("explain", "4711")
    #expect(number.status == 2 && number.complaints.contains("a rule of an extension may have given it"), "\(number)")
  }

  /// Messages in a file or a pipe stay as they are.
  @Test func aTerminalIsToldWhichCommandSaysMore() throws {
    let bench = try Workbench()
    try bench.write("return { entities = { Person = { attributes = { name = 'string' } } } }", to: "model.lua")
    let hint = "'moonbase explain 134047' says more"
    let run = ["run", "--model", "model.lua", "-e", "moonbase.context:insert('Persn')"]
    let piped = try bench.moonbase(run)
    #expect(piped.status == 1 && !piped.complaints.contains("explain"), "\(piped)")
    let line = ([Workbench.command.path] + run).map { "\"\($0)\"" }.joined(separator: " ")
    let shown = try bench.program(
      "sh", "-c",
      "command -v script > /dev/null || exit 9; script -qec '\(line.replacing("'", with: "'\\''"))' /dev/null")
    guard shown.status != 9 else { return }
    #expect(shown.status == 1 && shown.output.contains(hint), "\(shown)")
    let fetch = try bench.program(
      "script", "-qec", "\"\(Workbench.command.path)\" fetch Person --store model.lua", "/dev/null")
    #expect(fetch.output.contains("'moonbase explain 134000' says more"), "\(fetch)")
  }
}
