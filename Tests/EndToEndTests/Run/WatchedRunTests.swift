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

  /// The script changes the extension itself, and waits at edges until it runs; then the test changes the script.
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
    // A second version of the script takes the place of the first.
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

  @Test func standardInputCannotBeWatched() throws {
    let run = try bench.moonbase("run", "--watch", "-", input: "print(1)")
    #expect(run.status == 2 && run.complaints.contains("standard input is read once"), "\(run.status)\(run.complaints)")
  }
}
