import MoonbasePlatform
import MoonbaseTestSupport
import Testing

#if os(Linux)
  /// Commands that may take long show their progress on a terminal.
  @Suite struct ProgressTests {
    private static let commands = [
      ["doctor"], ["backup", "b.sqlite"], ["export", "--all", "all"], ["recompute", "Person"],
      ["migrate", "--to", "new.lua"], ["import", "--all", "all", "--store", "n.sqlite"],
    ]

    private static func bench() throws -> Workbench {
      let bench = try Workbench.withProject()
      try bench.insertPeople("Ann", "Bob")
      try bench.write(
        "return { entities = { Person = { attributes = { name = { 'string', optional = false }, "
          + "age = { 'integer16', default = 0 }, initial = 'string', note = 'string' } } } }", to: "new.lua")
      return bench
    }

    @Test func aBarIsShownOnATerminalAlone() throws {
      let bench = try Self.bench()
      for arguments in Self.commands where arguments[0] != "import" {
        let terminal = try PseudoTerminal(arguments, in: bench)
        #expect(terminal.end() == 0, "\(arguments): \(terminal.screen)")
        #expect(terminal.screen.contains("] ") && terminal.screen.contains(" %"), "\(arguments): \(terminal.screen)")
      }
    }

    @Test func neitherPipesNorQuietCommandsHaveABar() throws {
      let bench = try Self.bench()
      for arguments in Self.commands {
        let outcome = try bench.moonbase(arguments)
        #expect(outcome.status == 0 && !outcome.complaints.contains("["), "\(arguments): \(outcome)")
      }
      let terminal = try PseudoTerminal(
        ["recompute", "Person", "--quiet", "--no-project", "--store", "n.sqlite", "--extension", "rules.lua"], in: bench
      )
      #expect(terminal.end() == 0 && !terminal.screen.contains("["), "\(terminal.screen)")
    }
  }
#endif
