import MoonbasePlatform
import MoonbaseTestSupport
import Testing

#if os(Linux)
  /// Output into a pipe without a reader.
  @Suite struct FullPipeTests {
    static let scripts = [
      "print": "while true do print('x') end",
      "long lines": "while true do print(('x'):rep(100000)) end",
      "io.write": "while true do io.write('xxxxxxxxxxxxx') end",
      "standard error": "while true do io.stderr:write('xxxxxxxxxxxxx') end",
      "unbuffered": "io.stdout:setvbuf('no') while true do io.write('xxxxxxxxxxxxx') end",
      "what was written before": "print(('x'):rep(67000)) while true do end",
    ]

    /// The status of a run whose output goes to a program that does not read.
    private func status(of script: String, starter: String = "", options: String = "") throws -> String {
      let bench = try Workbench()
      try bench.write(script, to: "script.lua")
      let run = "\(starter) '\(Workbench.command.path)' run \(options) script.lua"
      // The reader reads nothing, and ends with the run or after twenty seconds.
      let reader = "i=0; while [ ! -s status.txt ] && [ $i -lt 200 ]; do i=$((i + 1)); sleep 0.1; done"
      let shell = "( \(run); echo $? >status.txt ) 2>&1 | { \(reader); }"
      let process = try ChildProcess(URL(fileURLWithPath: "/bin/sh"), ["-c", shell], in: bench.folder)
      defer { process.kill() }
      for _ in 0..<500 {
        if let text = try? String(contentsOf: bench.file("status.txt"), encoding: .utf8), text.hasSuffix("\n") {
          return String(text.dropLast())
        }
        usleep(20_000)
      }
      return "it did not end"
    }

    @Test(arguments: scripts.keys.sorted()) func aDeadlineEndsWaitingForRoom(_ name: String) throws {
      let script = try #require(Self.scripts[name])
      #expect(try status(of: script, options: "--limit-time 1") == "3")
    }

    @Test(arguments: ["print", "standard error"]) func anInterruptionEndsWaitingForRoom(_ name: String) throws {
      let script = try #require(Self.scripts[name])
      let starter = "env --default-signal=INT timeout --preserve-status -s INT 1"
      #expect(try status(of: script, starter: starter) == "130")
    }
  }
#endif
