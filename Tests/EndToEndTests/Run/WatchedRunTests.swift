import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase run --watch`.
@Suite struct WatchedRunTests {
  let bench: Workbench

  init() throws { bench = try Workbench() }

  private static func file(_ version: Int) -> String {
    """
    return { name = "names", version = "\(version)", entities = { P = { derived = {
      label = { type = "string", inputs = { "s" }, get = function(s) return s .. "\(version)" end } } } } }
    """
  }

  /// The script changes the extension and waits until the new code runs; then the test changes the script.
  @Test func extensionsChangeWhileTheScriptRunsAndTheScriptRunsAgain() throws {
    try bench.write("return { entities = { P = { attributes = { s = 'string' } } } }", to: "m.lua")
    try bench.write(Self.file(1), to: "e.lua")
    try bench.write(
      """
      local context = moonbase.context
      local p = context:insert("P", { s = "x" })
      print(p.label)
      local file = assert(io.open("e.lua", "w"))
      file:write([[\(Self.file(2))]])
      file:close()
      local deadline = os.time() + 20
      while p.label ~= "x2" and os.time() < deadline do context:process_pending_changes() end
      print(p.label)
      context:rollback()
      """, to: "s.lua")
    // A second version of the script replaces the first.
    try bench.write("print('again', arg[1])", to: "next.lua")
    let command = """
      "$0" run --watch --model m.lua --extension e.lua s.lua one > out 2> err &
      pid=$!
      for i in $(seq 200); do grep -q waiting err && break; sleep 0.05; done
      mv next.lua s.lua
      for i in $(seq 200); do grep -q again out && break; sleep 0.05; done
      kill -KILL $pid; wait $pid
      """
    _ = try bench.program("bash", "-c", command, Workbench.command.path)
    let output = String(decoding: try bench.bytes(of: "out"), as: UTF8.self)
    let complaints = String(decoding: try bench.bytes(of: "err"), as: UTF8.self)
    #expect(output == "x1\nx2\nagain\tone\n", "\(output)\(complaints)")
    #expect(
      complaints.hasPrefix("moonbase run: reloaded names 2\nmoonbase run: waiting for a change\n"), "\(complaints)")
  }

  /// Starts `moonbase run --watch` with these options, and runs these steps in a shell: `sees TEXT FILE TIMES` waits
  /// until a file contains `TEXT` in so many lines. Returns both output streams and the status of the last step.
  private func watching(
    _ options: String, _ steps: String, start: String = ""
  ) throws -> (output: String, complaints: String, status: Int32) {
    let command = """
      sees() { for i in $(seq 300); do [ "$(grep -c "$1" $2)" -ge $3 ] && break; sleep 0.05; done; }
      \(start) "$0" run --watch \(options) > out 2> err &
      pid=$!
      \(steps)
      status=$?
      kill -KILL $pid 2> /dev/null
      exit $status
      """
    let run = try bench.program("bash", "-c", command, Workbench.command.path)
    func text(_ name: String) throws -> String { String(decoding: try bench.bytes(of: name), as: UTF8.self) }
    return (try text("out"), try text("err"), run.status)
  }

  @Test func runsAfterOneThatALimitEndedAreAsBefore() throws {
    try bench.write("while true do end", to: "s.lua")
    try bench.write("print('again')", to: "next.lua")
    let run = try watching(
      "--limit-instructions 100000 s.lua", "sees waiting err 1; mv next.lua s.lua; sees waiting err 2")
    #expect(run.output == "again\n", "\(run)")
    #expect(run.complaints.components(separatedBy: "moonbase run: ").count == 4, "\(run)")
    #expect(run.complaints.hasSuffix("moonbase run: waiting for a change\n" + "moonbase run: waiting for a change\n"))
  }

  @Test func extensionsThatDidNotLoadAreWatched() throws {
    try bench.write("return { entities = { P = { attributes = { s = 'string' } } } }", to: "m.lua")
    try bench.write("return {", to: "e.lua")
    try bench.write(Self.file(1), to: "e1.lua")
    try FileManager.default.createDirectory(at: bench.file("folder"), withIntermediateDirectories: false)
    try bench.write("return require('helper')", to: "folder/names.lua")
    try bench.write("return { version = '1' }", to: "helper.off")
    try bench.write(
      """
      local p = moonbase.context:insert("P", { s = "x" })
      print(p.label)
      moonbase.context:rollback()
      """, to: "s.lua")
    let run = try watching(
      "--model m.lua --extension e.lua --extension folder s.lua",
      """
      sees waiting err 1; mv e1.lua e.lua
      sees waiting err 2; mv helper.off folder/helper.lua
      sees waiting err 3
      """)
    #expect(run.output == "x1\n", "\(run)")
  }

  @Test func aRemovedScriptIsToldOnceAndWaitedFor() throws {
    try bench.write("print('once')", to: "s.lua")
    let run = try watching(
      "s.lua",
      """
      sees waiting err 1; mv s.lua away.lua
      sees waiting err 2; sleep 1; mv away.lua s.lua
      sees waiting err 3
      """)
    #expect(run.output == "once\nonce\n", "\(run)")
    #expect(run.complaints.components(separatedBy: "no such file").count == 2, "\(run)")
  }

  @Test func aModuleThatWasNotFoundIsWaitedFor() throws {
    try bench.write("print(require('parts.mod').name)", to: "s.lua")
    try bench.write("return { name = 'found' }", to: "other")
    let run = try watching(
      "s.lua", "sees waiting err 1; mkdir parts; mv other parts/mod.lua; sees waiting err 2")
    #expect(run.output == "found\n", "\(run)")
    #expect(run.complaints.contains("module 'parts.mod' not found"), "\(run)")
  }

  #if os(Linux)
    @Test func anInterruptionOfTheScriptEndsTheCommand() throws {
      try bench.write("print('runs') io.stdout:flush() while true do end", to: "s.lua")
      let run = try watching(
        "--limit-time 60 s.lua", "sees runs out 1; kill -INT $pid; wait $pid", start: "env --default-signal=INT")
      #expect(run.status == 130 && !run.complaints.contains("waiting"), "\(run)")
    }
  #endif

  @Test func standardInputCannotBeWatched() throws {
    let run = try bench.moonbase("run", "--watch", "-", input: "print(1)")
    #expect(run.status == 2 && run.complaints.contains("standard input is read once"), "\(run.status)\(run.complaints)")
  }
}
