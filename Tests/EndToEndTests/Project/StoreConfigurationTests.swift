import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Stores that hold a configuration of a model: commands accept `CONFIG=PATH`.
@Suite struct StoreConfigurationTests {
  /// A bench with `l.sqlite` of the configuration Local and `f.sqlite` of Far.
  private func bench() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = { Person = { attributes = { name = "string" } }, Place = { attributes = { name = "string" } } },
        configurations = { Local = { "Person" }, Far = { "Place" } } }
      """, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "Local=l.sqlite", "--store", "Far=f.sqlite", "--model", "m.lua", "-e",
      """
      local c = moonbase.context
      c:insert("Person", { name = "Ann" }) c:insert("Place", { name = "Here" })
      assert(c:save())
      """)
    try #require(made.status == 0, "\(made)")
    return bench
  }

  @Test func commandsTakeTheConfigurationBeforeThePath() throws {
    let bench = try bench()
    let commands = [
      ["info", "Local=l.sqlite"], ["sql", "Local=l.sqlite", "SELECT COUNT(*) FROM Person"],
      ["backup", "Local=l.sqlite", "b.sqlite"], ["vacuum", "Local=l.sqlite"], ["doctor", "Local=l.sqlite"],
      ["migrate", "Local=l.sqlite", "--to", "m.lua"], ["copy", "Local=l.sqlite", "Local=c.sqlite"],
      ["diff", "Local=l.sqlite", "Local=c.sqlite"], ["fetch", "Person", "Local=l.sqlite"],
    ]
    for command in commands {
      let outcome = try bench.moonbase(command)
      #expect(outcome.status == 0, "\(command): \(outcome)")
    }
    for command in commands where command[0] != "fetch" {
      let wrong = try bench.moonbase(command.map { $0.replacing("Local=", with: "Far=") })
      #expect(wrong.status == 1 && wrong.complaints.contains("not configuration Far"), "\(command): \(wrong)")
    }
  }

  @Test func copyAndDiffKnowTheConfigurationThatAStoreHolds() throws {
    let bench = try bench()
    #expect(try bench.moonbase("copy", "l.sqlite", "c.sqlite").status == 0)
    #expect(try bench.moonbase("info", "c.sqlite").output.contains("configuration Local"))
    #expect(try bench.moonbase("diff", "l.sqlite", "c.sqlite").status == 0)
    let none = try bench.moonbase("diff", "l.sqlite", "f.sqlite")
    #expect(none.status == 1 && none.complaints.contains("nothing is compared"), "\(none)")
    let one = try bench.moonbase("diff", "l.sqlite", "f.sqlite", "--entity", "Person")
    #expect(one.status == 1 && one.complaints.contains("f.sqlite has no entity Person"), "\(one)")
    let unknown = try bench.moonbase("copy", "l.sqlite", "Lokal=x.sqlite")
    #expect(unknown.status == 1 && unknown.complaints.contains("did you mean Local?"), "\(unknown)")
    #expect(try bench.names().allSatisfy { !$0.contains("x.sqlite") })
  }

  @Test func aProjectAroundAStoreNamesItsConfiguration() throws {
    let bench = try bench()
    for (source, folder) in [("l.sqlite", "a"), ("Far=f.sqlite", "b")] {
      let made = try bench.moonbase("init", folder, "--from", source)
      #expect(made.status == 0, "\(made)")
      for command in ["test", "check", "run script.lua", "doctor", "info"] {
        let outcome = try bench.program("sh", "-c", "cd \(folder) && \"$0\" \(command)", Workbench.command.path)
        #expect(outcome.status == 0, "\(folder) \(command): \(outcome)")
        if command.hasPrefix("run") {
          #expect(outcome.output == (folder == "a" ? "1\tPerson\n" : "1\tPlace\n"), "\(outcome)")
        }
      }
    }
    let wrong = try bench.moonbase("init", "c", "--from", "Far=l.sqlite")
    #expect(wrong.status == 1 && wrong.complaints.contains("not configuration Far"), "\(wrong)")
  }
}
