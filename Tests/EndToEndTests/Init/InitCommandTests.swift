import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase init` makes a project whose tests and script pass.
@Suite struct InitCommandTests {
  /// Runs the command in a folder of the bench.
  private func moonbase(_ bench: Workbench, in folder: String, _ command: String) throws -> Workbench.Outcome {
    try bench.program("sh", "-c", "cd '\(folder)' && \"$0\" \(command)", Workbench.command.path)
  }

  @Test func aProjectOfPeopleTestsAndRuns() throws {
    let bench = try Workbench()
    let made = try bench.moonbase("init", "people", "--quiet")
    #expect(made.status == 0 && made.complaints == "", "\(made)")
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.file("people").path).sorted()
    #expect(
      names == [
        ".luacheckrc", ".luarc.json", ".moonbase", "README.md", "model.lua", "moonbase.project.lua", "people.csv",
        "people.lua", "people_test.lua", "script.lua",
      ])
    for command in ["test", "check", "run script.lua", "doctor", "recompute Person"] {
      let outcome = try moonbase(bench, in: "people", command)
      #expect(outcome.status == 0, "\(command): \(outcome)")
      if command.hasPrefix("run") {
        #expect(outcome.output.contains("Captain Scarlet\tspectrum.example\t#ff2400"), "\(outcome)")
      }
    }
    let imported = try moonbase(bench, in: "people", "import Person people.csv --upsert email")
    #expect(imported.complaints.contains("0 inserted"), "\(imported)")
    #expect(imported.status == 0)
  }

  @Test func filesThatAreThereAreNotReplaced() throws {
    let bench = try Workbench()
    try bench.write("mine", to: "script.lua")
    let outcome = try bench.moonbase("init")
    #expect(outcome.status == 2 && outcome.complaints.contains("script.lua is there"), "\(outcome)")
    #expect(try bench.names() == ["script.lua"] && bench.bytes(of: "script.lua") == Data("mine".utf8))
    try bench.write("x", to: "file")
    let file = try bench.moonbase("init", "file")
    #expect(file.status == 1 && file.complaints.contains("file cannot be made a folder"), "\(file)")
    let twice = try bench.moonbase("init", "a", "--from", "x", "--from", "y")
    #expect(twice.status == 2, "\(twice)")
    let gone = try bench.moonbase("init", "a", "--from", "gone.csv")
    #expect(gone.status == 1 && gone.complaints.contains("gone.csv: there is no such file"), "\(gone)")
  }

  @Test func rowsAndStoresGetAProjectAroundThem() throws {
    let bench = try Workbench.withPeople()
    try bench.write("name,price,day\nA,1.5,2020-01-01\nB,2,2021-01-01\n", to: "items.csv")
    for (source, folder, entity) in [("items.csv", "shop", "Items"), ("s.sqlite", "crew", "Department")] {
      let made = try bench.moonbase("init", folder, "--from", source)
      #expect(made.status == 0, "\(made)")
      for command in ["test", "check", "run script.lua", "fetch \(entity) --columns label --format csv"] {
        let outcome = try moonbase(bench, in: folder, command)
        #expect(outcome.status == 0, "\(folder) \(command): \(outcome)")
        if command.hasPrefix("fetch") { #expect(outcome.output.contains("\n["), "\(outcome)") }
      }
    }
  }

  /// The stores that Core Data wrote, each with the model stored in it.
  @Test(arguments: ["Bookmarks_V5", "SyncMetadata_V3", "LoopKit-Model.v1"])
  func aStoreOfAnAppGetsAProject(_ name: String) throws {
    let bench = try Workbench()
    guard try bench.takeRealStore(name) else { return }
    let made = try bench.moonbase("init", "app", "--from", "s.sqlite")
    #expect(made.status == 0, "\(made)")
    for command in ["test", "check", "run script.lua"] {
      let outcome = try moonbase(bench, in: "app", command)
      #expect(outcome.status == 0, "\(command): \(outcome)")
    }
  }

  /// Values whose app-specific classes and transformers are unavailable are kept as bytes by the extension.
  @Test func transformersAndClassesOfAnAppAreKept() throws {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = { Car = { attributes = {
        name = "string", color = { "transformable", transformer = "Paint", class = "Color" },
        seat = { "transformable", transformer = "Seats" },
      } } } }
      """, to: "m.lua")
    try bench.write(
      """
      local C = {} C.__index = C
      return { name = "app", classes = { Color = C }, transformers = {
        Paint = { class = "Color", transform = function(c) return c.v end, reverse = function(b) return setmetatable({ v = b }, C) end },
        Seats = { transform = function(v) return v end, reverse = function(b) return b end },
      } }
      """, to: "app.lua")
    let filled = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "m.lua", "--extension", "app.lua", "-e",
      "moonbase.context:insert('Car', { name = 'a', color = setmetatable({ v = 'red' }, moonbase.classes.Color), seat = 'soft' }) assert(moonbase.context:save())"
    )
    try #require(filled.status == 0, "\(filled)")
    let forgotten = try bench.moonbase("doctor", "s.sqlite", "--forget-extension", "app")
    #expect(forgotten.status == 0, "\(forgotten)")
    let made = try bench.moonbase("init", "P", "--from", "s.sqlite")
    #expect(made.status == 0, "\(made)")
    for command in ["test", "check", "run script.lua"] {
      let outcome = try moonbase(bench, in: "P", command)
      #expect(outcome.status == 0, "\(command): \(outcome)")
    }
    let read = try moonbase(
      bench, in: "P", "run -e 'local c = moonbase.context:fetch(\"Car\"):first() print(c.color.bytes, c.seat)'")
    #expect(read.output == "red\tsoft\n", "\(read)")
  }
}
