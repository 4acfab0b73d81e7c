import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

#if os(Linux)
  /// Control characters of names, values and messages from a file do not reach the terminal.
  @Suite struct TerminalTextTests {
    private static let evil = "\u{1B}]0;owned\u{7}\u{9B}2J\u{202E}\u{7F}\r"

    /// A store with hostile texts.
    private func evilBench() throws -> Workbench {
      let bench = try Workbench.withItems(3)
      let raw = try bench.connection(to: "s.sqlite", mode: .readWrite)
      for sql in [
        "UPDATE Z_METADATA SET Z_UUID = ?", "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 2, 1, ?)",
        "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (2, 77, 1, ?)",
      ] {
        let statement = try raw.statement(sql)
        statement.bind(Self.evil, at: 1)
        try statement.run()
      }
      try raw.execute("CREATE TABLE \"\(Self.evil)\" (a)")
      return bench
    }

    /// Runs the command with a terminal for both streams and returns the terminal's text.
    private func shown(_ bench: Workbench, _ arguments: [String]) throws -> String {
      let script = "import pty, sys; pty.spawn(sys.argv[1:])"
      let outcome = try bench.program("timeout", ["30", "python3", "-c", script, Workbench.command.path] + arguments)
      // A terminal ends lines with carriage returns.
      return (outcome.output + outcome.complaints).replacing("\r\n", with: "\n")
    }

    private func isPlain(_ text: String) -> Bool {
      !text.unicodeScalars.contains {
        ($0.value < 0x20 && $0 != "\n" && $0 != "\t") || (0x7F...0x9F).contains($0.value) || $0.value == 0x202E
      }
    }

    @Test(arguments: [
      ["info", "s.sqlite"], ["info", "s.sqlite", "--json"], ["doctor", "s.sqlite"],
      ["fetch", "Note", "--store", "s.sqlite"],
      ["batch", "status", "--store", "s.sqlite"], ["sql", "s.sqlite", "SELECT Z_UUID FROM Z_METADATA"],
      ["sql", "s.sqlite", "SELECT Z_UUID FROM Z_METADATA", "--format", "csv"],
    ]) func noByteOfAStoreSpeaksToATerminal(_ arguments: [String]) throws {
      let text = try shown(try evilBench(), arguments)
      #expect(isPlain(text) && text.contains("\\u{1B}"), "\(text.debugDescription)")
    }

    @Test func whatATriggerSaysIsEscapedAndSoIsWhatALedgerSays() throws {
      let bench = try Workbench.withItems(3)
      try bench.execute(
        "CREATE TRIGGER t BEFORE UPDATE ON ZITEM BEGIN SELECT RAISE(ABORT, '\(Self.evil)'); END", in: "s.sqlite")
      let code = "moonbase.context:fetch('Item'):first().sum = 9 assert(moonbase.context:save())"
      let outcome = try bench.moonbase("run", "--store", "s.sqlite", "-e", code)
      #expect(outcome.status == 1 && isPlain(outcome.complaints) && outcome.complaints.contains("owned"), "\(outcome)")
      let failed = try bench.batch("run", "j.lua", status: 4)
      #expect(isPlain(failed.complaints), "\(failed)")
      let status = try shown(bench, ["batch", "status", "--store", "s.sqlite"])
      #expect(isPlain(status) && status.contains("owned"), "\(status)")
    }

    /// Data for a program is unchanged.
    @Test func aPipeGetsTheBytesThemselves() throws {
      let bench = try Workbench.withItems(1)
      let code = "moonbase.context:insert('Note', { text = '\\27[2J' }) assert(moonbase.context:save())"
      #expect(try bench.moonbase("run", "--store", "s.sqlite", "-e", code).status == 0)
      #expect(try bench.fetched("Note", "--format", "csv", "--columns", "text") == "text\n\u{1B}[2J\n")
    }
  }
#endif
