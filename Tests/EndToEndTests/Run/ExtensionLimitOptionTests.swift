import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `--extension-limit`: limits for each call of an extension.
@Suite struct ExtensionLimitOptionTests {
  private let bench: Workbench
  private let options = ["--model", "m.lua", "--extension", "slow.lua"]

  init() throws {
    bench = try Workbench()
    try bench.write("return { entities = { A = { attributes = { x = 'integer64' } } } }", to: "m.lua")
    try bench.write(
      """
      return { name = "spinner", entities = { A = {
        validate = { x = function(x) if x == 1 then while true do end end return true end } } } }
      """, to: "slow.lua")
  }

  private static let code = """
    local context = moonbase.context
    local a = context:insert("A", { x = 1 })
    print((select(2, context:save())))
    a.x = 2
    print((select(2, context:save())))
    context:rollback()
    """

  @Test(arguments: ["spinner:instructions=50000", "slow:instructions=50000", "slow:time=0.05,memory=8M"])
  func aRuleThatDoesNotEndFailsTheSave(_ limit: String) throws {
    let run = try bench.moonbase(["run", "--extension-limit", limit] + options + ["-e", Self.code])
    let lines = run.output.split(separator: "\n")
    #expect(run.status == 0 && lines.count == 2 && lines.last == "nil", "\(run)")
    #expect(lines.first?.contains("slow.lua:2: extension spinner exceeded its limit of") == true, "\(run)")
  }

  @Test func aDisabledExtensionFailsWhatNeedsIt() throws {
    let limit = "spinner:instructions=50000,disable"
    let run = try bench.moonbase(["run", "--extension-limit", limit] + options + ["-e", Self.code])
    #expect(run.output.contains("extension spinner is disabled because"), "\(run)")
    let each = try bench.moonbase(
      ["fetch", "A", "--store", "s.sqlite", "--extension-limit", "spinner:instruction=5"] + options)
    #expect(each.status == 2 && each.complaints.contains("--extension-limit takes NAME:instructions=N"), "\(each)")
  }

  /// A misspelt name is refused; otherwise the extension would run without limits.
  @Test func limitsOfAnExtensionThatIsNotThereAreRefused() throws {
    let run = try bench.moonbase(["run", "--extension-limit", "spiner:time=1"] + options + ["-e", Self.code])
    #expect(run.status == 1 && run.output == "", "\(run)")
    #expect(run.complaints.contains("no extension is called spiner") && run.complaints.contains("there are spinner"))
    let none = try bench.moonbase(["run", "--extension-limit", "spinner:time=1", "--model", "m.lua", "-e", ""])
    #expect(none.status == 1 && none.complaints.contains("none is loaded"), "\(none)")
  }

  @Test(arguments: ["x", "x:", ":time=1", "x:time=0", "x:memory=-1", "x:instructions=a", "x:disable,", "x:enable"])
  func whatIsNoLimitIsRefused(_ limit: String) throws {
    let run = try bench.moonbase(["run", "--extension-limit", limit] + options + ["-e", ""])
    #expect(run.status == 2 && run.complaints.contains("not '\(limit)'"), "\(run)")
  }
}
