import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Every line of a shell block in a document names a script that is there, a suite that is there, or runs.
@Suite struct ShellBlockTests {
  private static func lines() throws -> [(place: String, line: String)] {
    try DocumentBlock.documents("sh").flatMap { block in
      let whole = block.code.replacing("\\\n", with: " ")
      return whole.split(separator: "\n").map { line in
        let bare = line.split(separator: " #", maxSplits: 1).first ?? line
        return (block.place, bare.trimmingCharacters(in: .whitespaces))
      }
    }
  }

  /// What is before the line runs, by the words that it has.
  private func prepare(_ line: String, in bench: Workbench) throws {
    try bench.write("return { entities = { Person = { attributes = { age = 'integer64' } } } }", to: "m.lua")
    let people = try bench.moonbase(
      "run", "--store", "people.sqlite", "--model", "m.lua", "-e",
      "moonbase.context:insert('Person', { age = -3 }) assert(moonbase.context:save())")
    #expect(people.status == 0, "\(people)")
  }

  @Test func everyLineOfAShellBlockHolds() throws {
    let lines = try Self.lines()
    #expect(lines.count > 7)
    for (place, line) in lines {
      if let test = line.firstMatch(of: #/swift test .*--filter (\w+)/#) {
        let suites = try Workbench.suites()
        #expect(suites.contains { $0.contains(test.1) }, "\(place): there is no suite \(test.1)")
      } else if line == "scripts/test" {
        #expect(FileManager.default.isExecutableFile(atPath: Workbench.checkout.appendingPathComponent(line).path))
      } else {
        try run(line, of: place)
      }
    }
  }

  /// Runs a line with the command that was built along with the tests.
  private func run(_ line: String, of place: String) throws {
    let bench = try Workbench()
    try prepare(line, in: bench)
    let checkout = Workbench.checkout.path
    let command = line.replacing(#/(scripts/)?moonbase (?=run|each)/#, with: "'\(Workbench.command.path)' ")
      .replacing("lua/examples", with: "\(checkout)/lua/examples")
      .replacing("apt-cache dumpavail", with: "printf 'Package: alpha\\nVersion: 1\\n'")
    #expect(command != line, "\(place): \(line): ShellBlockTests.swift has no way to run this")
    let outcome = try bench.program("sh", "-c", command)
    #expect(outcome.status == 0, "\(place): \(outcome)")
  }
}

extension Workbench {
  /// The names of all files of suites.
  fileprivate static func suites() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: checkout.appendingPathComponent("Tests").path)
      .filter { $0.hasSuffix(".swift") }
  }
}
