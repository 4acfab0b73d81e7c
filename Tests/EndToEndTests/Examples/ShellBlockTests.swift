import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Every line of a shell block in a document names an existing script or suite, or is run.
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

  private static let model = """
    return {
      entities = {
        Person = {
          attributes = { name = "string", age = "integer64", full_name = "string", initials = "string" },
          relationships = { department = { to = "Department", inverse = "people" },
            friends = { to_many = "Person", inverse = "friends" } },
        },
        Department = { attributes = { name = "string" },
          relationships = { people = { to_many = "Person", inverse = "department" } } },
      },
      fetch_requests = { older_than = { "Person", "age > $AGE" } },
    }
    """

  private static let derivations = """
    return { name = "people", entities = { Person = { derived = {
      full_name = { inputs = { "name" }, stored = true, get = function(name) return name and name .. " Ash" end },
      initials = { inputs = { "name" }, stored = true, get = function(name) return name and name:sub(1, 1) end },
    } } } }
    """

  /// Prepares the files that a line needs: a store, its model and an extension. The project of the folder names the
  /// store for `fetch`, which the lines do not name.
  private func prepare(_ line: String, in bench: Workbench) throws {
    try bench.write(Self.model, to: "model.lua")
    try bench.write(Self.derivations, to: "people.lua")
    let people = try bench.moonbase(
      "run", "--store", "people.sqlite", "--model", "model.lua", "-e",
      """
      local c = moonbase.context
      local tools = c:insert("Department", { name = "Tools" })
      local ann = c:insert("Person", { name = "Ann", age = -3, department = tools })
      for _ = 1, 2 do ann.friends:add(c:insert("Person", { name = "Ben", age = 40, department = tools })) end
      assert(c:save())
      """)
    #expect(people.status == 0, "\(people)")
    if line.hasPrefix("moonbase fetch") {
      try bench.write("return { store = 'people.sqlite', model = 'model.lua' }", to: "moonbase.project.lua")
    }
  }

  /// Parts of the output of some lines.
  private static let outputs = [
    ("--group-by", "Tools"), ("--template", "Ben"), ("--tree", "    friends: Person/2"),
  ]

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

  /// Runs a line with the command built along with the tests.
  private func run(_ line: String, of place: String) throws {
    let bench = try Workbench()
    try prepare(line, in: bench)
    if let words = line.wholeMatch(of: #/moonbase inspect (\S+)/#) {
      // The command runs until it is ended, so its page is requested instead.
      let page = try InspectBench(bench, String(words.1))
      #expect(try page.get("/").status == 200 && page.get("/api/count", ["entity": "Person"]).json["count"].int == 3)
      return
    }
    let checkout = Workbench.checkout.path
    let command = line.replacing(
      #/(scripts/)?moonbase (?=(run|repl|each|fetch|init|recompute|test) )/#, with: "'\(Workbench.command.path)' "
    )
    .replacing("lua/examples", with: "\(checkout)/lua/examples")
    .replacing("apt-cache dumpavail", with: "printf 'Package: alpha\\nVersion: 1\\n'")
    #expect(command != line, "\(place): \(line): ShellBlockTests.swift has no way to run this")
    let outcome = try bench.program("sh", "-c", command)
    #expect(outcome.status == 0, "\(place): \(outcome)")
    for (words, output) in Self.outputs where line.contains(words) {
      #expect(outcome.output.contains(output), "\(place): \(outcome)")
    }
  }
}

extension Workbench {
  /// The names of all files of suites.
  fileprivate static func suites() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: checkout.appendingPathComponent("Tests").path)
      .filter { $0.hasSuffix(".swift") }
  }
}
