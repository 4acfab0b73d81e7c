import MoonbasePlatform
import MoonbaseTestSupport
import Testing

#if os(Linux)
  /// `moonbase repl` in a terminal: keys, Ctrl-C, the question at the end, and the history.
  @Suite struct ReplTerminalTests {
    let bench: Workbench

    init() throws { bench = try Workbench.withPeople() }

    private func terminal(columns: UInt16 = 80, _ environment: [String: String] = [:]) throws -> PseudoTerminal {
      let terminal = try PseudoTerminal(["repl", "s.sqlite"], in: bench, columns: columns, environment: environment)
      try terminal.wait(for: "s> ")
      return terminal
    }

    @Test func keysEditAndTabCompletes() throws {
      try bench.write("print('from the file')", to: "script.lua")
      let terminal = try terminal()
      try terminal.press("1 + 2\n", until: "3\r\n")
      try terminal.press("+ 4\u{1B}[H5 \u{1B}[F0\n", until: "45\r\n")
      try terminal.press("('夏目 é'):rep(2)\n", until: "\"夏目 é夏目 é\"\r\n")
      try terminal.press("p = moonb\t.con\t:fetch(\"Bo\t\"):first()\n", until: "s> ")
      try terminal.press("p.ti\t\n", until: "\"Dr\"\r\n")
      try terminal.press("p.\t", until: "friends")
      try terminal.press("\u{15}.run scr\t\n", until: "from the file\r\n")
      try terminal.press(".mod\tBo\t\n", until: "title")
      try terminal.press("for i = 1, 2 do\n", until: ".> ")
      try terminal.press("print(i * 10)\nend\n", until: "20\r\n")
      // An input of three lines is one entry of the history.
      try terminal.press("\u{1B}[A\n", until: "20\r\n")
      try terminal.press("\u{4}", until: "\n")
      #expect(terminal.end() == 0, "\(terminal.screen)")
    }

    @Test func controlCGivesUpALineAndEndsALoop() throws {
      let terminal = try terminal()
      try terminal.press("f(1,\n", until: ".> ")
      try terminal.press("\u{3}", until: "s> ")
      try terminal.press("print('runs') while true do end\n", until: "runs\r\n")
      try terminal.press("\u{3}", until: "interrupted")
      try terminal.press("\u{3}", until: "s> ")
      try terminal.press("40 + 2\n", until: "42\r\n")
      try terminal.press(".quit\n", until: "\n")
      #expect(terminal.end() == 0, "\(terminal.screen)")
    }

    /// The terminal's buffer is limited, so the table is being printed when Ctrl-C arrives.
    @Test func controlCEndsATable() throws {
      let terminal = try terminal()
      try terminal.press(".rows 20000\n", until: "s> ")
      try terminal.press("l = {} for i = 1, 20000 do l[i] = { n = i, text = 'a text' } end\n", until: "s> ")
      try terminal.press("l\n", until: "a text\r\n")
      try terminal.press("\u{3}", until: "interrupted")
      #expect(!terminal.screen.contains("20000  a text"))
      try terminal.press("40 + 2\n", until: "42\r\n")
    }

    @Test func bytesThatAreNoTextBecomeSigns() throws {
      let terminal = try terminal()
      terminal.press(bytes: [0x27, 0xFF, 0xE5, 0x61, 0xC3, 0x27, 0x0A])
      try terminal.wait(for: "\"\u{FFFD}\u{FFFD}a\u{FFFD}\"\r\n")
      try terminal.press("1 + 2\n", until: "3\r\n")
    }

    @Test func changesAreAskedFor() throws {
      let terminal = try terminal()
      try terminal.press("p = moonbase.context:fetch('Boss'):first() p.title = 'Prof'\n", until: "s*> ")
      try terminal.press("\u{4}", until: "1 changed object is not saved. Save? [y]es, [n]o, [c]ancel: ")
      try terminal.press("what\n", until: "Save?")
      try terminal.press("c\n", until: "s*> ")
      try terminal.press("os.exit(5)\n", until: "Save?")
      try terminal.press("\u{3}", until: "s*> ")
      try terminal.press(".undo\n", until: "s> ")
      try terminal.press(".redo\n", until: "s*> ")
      try terminal.press(".quit\n", until: "Save?")
      try terminal.press("y\n", until: "saved 1 object")
      #expect(terminal.end() == 0, "\(terminal.screen)")
      #expect(try bench.moonbase("fetch", "Boss", "s.sqlite", "--columns", "title").output.contains("Prof"))
    }

    @Test func nothingIsSavedWhereThePersonSaysSo() throws {
      let terminal = try terminal()
      try terminal.press("moonbase.context:fetch('Boss'):first().title = 'Prof'\n", until: "s*> ")
      try terminal.press("\u{4}", until: "Save?")
      try terminal.press("n\n", until: "\n")
      #expect(terminal.end() == 0, "\(terminal.screen)")
      let second = try self.terminal()
      try second.press("moonbase.context:fetch('Boss'):first().title\n", until: "\"Dr\"")
      try second.press("moonbase.context:fetch('Boss'):first().title = 'Prof'\n", until: "s*> ")
      try second.press("\u{4}", until: "Save?")
      try second.press("\u{4}", until: "nothing was saved")
      #expect(second.end() == 1, "\(second.screen)")
    }

    @Test func theHistoryIsThereTheNextTime() throws {
      let terminal = try terminal()
      try terminal.press("'first one'\n", until: "\"first one\"")
      try terminal.press(" 'kept to itself'\n", until: "\"kept to itself\"")
      try terminal.press("\u{4}", until: "\n")
      #expect(terminal.end() == 0)
      let file = bench.file("state/moonbase/history")
      #expect(try String(contentsOf: file, encoding: .utf8) == "'first one'\n")
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      let second = try self.terminal()
      try second.press("\u{1B}[A\n", until: "\"first one\"")
    }

    /// The end of an overlong file is kept.
    @Test func aLongHistoryIsShortened() throws {
      let file = bench.file("state/moonbase/history")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      let lines = (1...120).map { "'\($0)" + String(repeating: "x", count: 40_000) + "'\n" }.joined()
      try Data((lines + "'the last one'\n").utf8).write(to: file)
      let terminal = try terminal()
      try terminal.press("\u{1B}[A\n", until: "\"the last one\"")
      #expect(!terminal.screen.contains("is not kept"), "\(terminal.screen.prefix(500))")
      #expect(try Data(contentsOf: file).count < 3 << 20)
    }

    @Test func aHistoryThatCannotBeKeptIsToldOnce() throws {
      let terminal = try terminal(["XDG_STATE_HOME": "/proc/nowhere"])
      #expect(terminal.screen.components(separatedBy: "the history is not kept").count == 2, "\(terminal.screen)")
      try terminal.press("1 + 2\n", until: "3\r\n")
      let plain = try self.terminal(["TERM": "dumb"])
      try plain.press("1 + 2\n", until: "3\r\n")
      try plain.press("\u{4}", until: "\n")
      #expect(plain.end() == 0, "\(plain.screen)")
    }

    @Test func extensionsAreReloadedBetweenInputs() throws {
      func write(_ version: Int) throws {
        try bench.write(
          """
          return { name = "names", version = "\(version)", entities = { Person = { derived = {
            label = { type = "string", get = function() return "version \(version)" end } } } } }
          """, to: "e.lua")
      }
      try write(1)
      let terminal = try PseudoTerminal(["repl", "s.sqlite", "--extension", "e.lua", "--watch"], in: bench)
      try terminal.wait(for: "s> ")
      try terminal.press("p = moonbase.context:fetch('Boss'):first() print(p.label)\n", until: "version 1\r\n")
      try write(2)
      for _ in 0..<600 where !terminal.screen.contains("reloaded names 2") { try terminal.press("\n", until: "s> ") }
      try terminal.press("p.label\n", until: "\"version 2\"")
    }

    @Test func tablesHaveTheWidthOfTheTerminal() throws {
      for columns: UInt16 in [60, 160] {
        let terminal = try terminal(columns: columns)
        try terminal.press("moonbase.context:fetch('Person')\n", until: "(3 objects)")
        let lines = terminal.screen.split(whereSeparator: \.isNewline).filter { $0.contains("Person/") }
        #expect(lines.allSatisfy { $0.count <= Int(columns) } && lines.count == 2, "\(terminal.screen)")
        #expect(terminal.screen.contains("(not shown: ") == (columns == 60), "\(terminal.screen)")
      }
    }
  }
#endif
