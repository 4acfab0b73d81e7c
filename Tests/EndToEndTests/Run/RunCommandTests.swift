import MoonbasePlatform
import Testing

@Suite struct RunCommandTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      #"return { entities = { Person = { attributes = { name = "string", age = "integer16" } } } }"#, to: "m.lua")
  }

  @Test func piecesShareOneEnvironment() throws {
    try bench.write("print(x, arg[0], arg[1], ...)", to: "script.lua")
    let run = try bench.moonbase("run", "-e", "x = 1", "script.lua", "one", "--two")
    #expect(run.status == 0)
    #expect(run.output == "1\tscript.lua\tone\tone\t--two\n")
    #expect(run.complaints == "")
  }

  @Test func aScriptComesFromStandardInput() throws {
    #expect(try bench.moonbase(["run", "-", "a"], input: "print(...)").output == "a\n")
  }

  @Test func aScriptReadsStandardInput() throws {
    let code = "local n = 0 for line in io.lines() do n = n + #line end print(n)"
    #expect(try bench.moonbase(["run", "-e", code], input: "ab\ncde\n").output == "5\n")
  }

  @Test(
    arguments: [("os.exit(7)", 7), ("os.exit(true)", 0), ("os.exit(false)", 1), ("error('no')", 1)] as [(String, Int32)]
  )
  func theScriptSaysHowItEnds(_ code: String, _ status: Int32) throws {
    #expect(try bench.moonbase("run", "-e", code).status == status)
  }

  @Test(
    arguments: [
      ["--limit-instructions", "100000", "-e", "while true do end"],
      ["--limit-time", "0.2", "-e", "while true do end"],
      ["--limit-memory", "4000000", "-e", "local t = {} for i = 1, 1e9 do t[i] = i end"],
      ["--limit-instructions", "100000", "-e", "pcall(function() while true do end end)"],
    ])
  func anExceededLimitExitsWithThree(_ arguments: [String]) throws {
    let run = try bench.moonbase(["run"] + arguments)
    #expect(run.status == 3)
    #expect(run.complaints.contains("moonbase run: -e:1: "))
  }

  @Test func whatIsSavedIsThereInTheNextRunWithoutAModel() throws {
    let insert = "moonbase.context:insert('Person', { name = 'Scarlet', age = 120 }) assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", insert).status == 0)
    #expect(try bench.names() == ["m.lua", "s.sqlite"])
    let fetch =
      "for p in moonbase.context:fetch('Person'):where('(age >= 100) AND (age <= 200)'):each() do print(p.name) end"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "-e", fetch).output == "Scarlet\n")
    let tables = try bench.program("sqlite3", "s.sqlite", ".tables").output.split(whereSeparator: \.isWhitespace)
    #expect(Set(tables) == ["ZPERSON", "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"])
  }

  @Test func unsavedChangesAreTold() throws {
    let insert = "moonbase.context:insert('Person')"
    let run = try bench.moonbase("run", "--model", "m.lua", "-e", insert)
    #expect(run.status == 0)
    #expect(run.complaints.contains("1 changed object was not saved"))
    #expect(try bench.moonbase("run", "--quiet", "--model", "m.lua", "-e", insert).complaints == "")
  }

  @Test func aChangedExtensionChangesTheBehaviour() throws {
    let code = "local ok, err = moonbase.context:insert('Person', { age = 130 }):validate() print(ok, err)"
    func rule(below limit: Int) -> String {
      "return { name = 'x', entities = { Person = { validate = { age = function(v) return v < \(limit), 'is too old' end } } } }"
    }
    let arguments = ["run", "--quiet", "--model", "m.lua", "--extension", "e.lua", "-e", code]
    try bench.write(rule(below: 140), to: "e.lua")
    #expect(try bench.moonbase(arguments).output == "true\tnil\n")
    try bench.write(rule(below: 120), to: "e.lua")
    #expect(try bench.moonbase(arguments).output.contains("is too old"))
  }

  #if os(Linux)
    @Test func interruptionEndsTheScript() throws {
      let run = try bench.program(
        "timeout", "--preserve-status", "--signal=INT", "1", "env", "--default-signal=INT", Workbench.command.path,
        "run",
        "-e", "while true do pcall(function() while true do end end) end")
      #expect(run.status == 130)
      #expect(run.complaints == "moonbase run: interrupted\n")
    }
  #endif
}
