import MoonbaseTestSupport
import Testing

/// Hooks of an extension that is reloaded.
@Suite struct ReloadHookTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write("return { entities = { P = { attributes = { i = 'integer64' } } } }", to: "m.lua")
  }

  @Test(arguments: [("name = 'counting', ", "counting"), ("", "e.lua")])
  func anErrorOfTheHookNamesHookExtensionAndLine(_ field: String, _ name: String) throws {
    try bench.write(
      "return {\n  \(field)entities = { P = { will_save = print } },\n  on_reload = function() error('no') end,\n}",
      to: "e.lua")
    let run = try bench.moonbase(
      "run", "--model", "m.lua", "--extension", "e.lua", "-e", "print(pcall(moonbase.reload))")
    #expect(run.output.hasPrefix("false\t"), "\(run.output)\(run.complaints)")
    #expect(run.output.contains("on_reload of extension ") && run.output.contains("\(name): "), "\(run.output)")
    #expect(run.output.contains("e.lua:3: no"), "\(run.output)")
  }

  @Test func aHookCannotReloadAgain() throws {
    try bench.write("return { entities = { P = {} }, on_reload = function() moonbase.reload() end }", to: "e.lua")
    let run = try bench.moonbase(
      "run", "--model", "m.lua", "--extension", "e.lua", "--limit-time", "20", "-e",
      "print(pcall(moonbase.reload)) print(pcall(moonbase.reload))")
    let lines = run.output.split(separator: "\n")
    #expect(run.status == 0 && lines.count == 2, "\(run.output)\(run.complaints)")
    #expect(lines.allSatisfy { $0.contains("the extensions are being reloaded") }, "\(run.output)")
  }

  /// Each error holds the previous one twice: as its cause and as the raised value.
  @Test func theErrorOfHooksThatReloadOthersIsWeighedOnce() throws {
    try bench.write(
      """
      return { entities = { P = {} }, on_reload = function()
        moonbase.open { model = "m.lua", extensions = { "e.lua" } }.reload()
      end }
      """, to: "e.lua")
    let run = try bench.moonbase(
      "run", "--model", "m.lua", "--extension", "e.lua", "--limit-time", "60", "-e", "print(pcall(moonbase.reload))")
    #expect(run.status == 0 && run.output.hasPrefix("false"), "\(run.status)\(run.output)\(run.complaints)")
  }

  /// An extension that could open stores could open its own store recursively.
  @Test func anExtensionOpensNothing() throws {
    try bench.write(
      """
      if moonbase.open then moonbase.open { model = "m.lua", extensions = { "e.lua" } } end
      return { entities = { P = {} } }
      """, to: "e.lua")
    let run = try bench.moonbase(
      "run", "-e", "print(pcall(moonbase.open, { model = 'm.lua', extensions = { 'e.lua' } }))")
    #expect(run.output.hasPrefix("true"), "\(run.output)\(run.complaints)")
  }

  @Test func aHookThatPassesALimitEndsTheRun() throws {
    try bench.write(
      "return { entities = { P = { will_save = print } }, on_reload = function() while true do end end }", to: "e.lua")
    let run = try bench.moonbase(
      "run", "--model", "m.lua", "--extension", "e.lua", "--limit-instructions", "1000000", "-e",
      "print(pcall(moonbase.reload))")
    #expect(run.status != 0 && run.output.isEmpty, "\(run.output)\(run.complaints)")
  }
}
