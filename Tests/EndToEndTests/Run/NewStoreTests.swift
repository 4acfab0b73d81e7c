import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A missing store is made only if the command line names a model, or the project names the store.
@Suite struct NewStoreTests {
  private static let insert = "moonbase.context:insert('Person', { name = 'Ann' }) assert(moonbase.context:save())"

  @Test func aMistypedNameIsAnErrorInAProject() throws {
    let bench = try Workbench.withProject()
    let made = try bench.moonbase("run", "-e", Self.insert)
    #expect(made.status == 0 && made.complaints == "moonbase: s.sqlite is a new store\n", "\(made)")
    try bench.write("name\nBob\n", to: "p.csv")
    let commands = [
      ["run", "--store", "t.sqlite", "-e", "print(1)"], ["repl", "t.sqlite"],
      ["import", "Person", "p.csv", "t.sqlite"],
    ]
    for command in commands {
      let outcome = try bench.moonbase(command)
      #expect(outcome.status == 1 && outcome.output == "", "\(outcome)")
      #expect(outcome.complaints.contains("t.sqlite does not exist, and the store of"), "\(outcome)")
      #expect(outcome.complaints.contains("--model model.lua"), "\(outcome)")
      #expect(try !bench.names().contains("t.sqlite"))
    }
    let again = try bench.moonbase("run", "--store", "./s.sqlite", "-e", Self.insert)
    #expect(again.status == 0 && again.complaints == "", "\(again)")
  }

  /// `MOONBASE_STORE` takes precedence over the project for `run`, as for all commands.
  @Test func theEnvironmentNamesTheStore() throws {
    let bench = try Workbench.withProject()
    func run(_ store: String, _ arguments: String...) throws -> ChildProcess.Outcome {
      try bench.program("env", ["MOONBASE_STORE=\(store)", Workbench.command.path, "run"] + arguments)
    }
    let made = try run("e.sqlite", "--model", "model.lua", "-e", Self.insert)
    #expect(made.status == 0 && made.complaints == "moonbase: e.sqlite is a new store\n", "\(made)")
    #expect(try !bench.names().contains("s.sqlite"))
    let mistyped = try run("f.sqlite", "-e", Self.insert)
    #expect(mistyped.status == 1 && mistyped.complaints.contains("f.sqlite does not exist"), "\(mistyped)")
    let counted = try run("e.sqlite", "-e", "print(moonbase.context:fetch('Person'):count())")
    #expect(counted.status == 0 && counted.output == "1\n", "\(counted)")
  }

  @Test func aModelOfTheCommandLineMakesTheStoreAndSaysSo() throws {
    let bench = try Workbench.withProject()
    try bench.write("name\nBob\n", to: "p.csv")
    let run = try bench.moonbase("run", "--store", "a.sqlite", "--model", "model.lua", "-e", Self.insert)
    #expect(run.status == 0 && run.complaints.contains("a.sqlite is a new store"), "\(run)")
    let quiet = try bench.moonbase("run", "--quiet", "--store", "b.sqlite", "--model", "model.lua", "-e", Self.insert)
    #expect(quiet.status == 0 && quiet.complaints == "", "\(quiet)")
    let repl = try bench.moonbase(["repl", "c.sqlite", "--model", "model.lua"], input: "1\n")
    #expect(repl.status == 0 && repl.complaints.contains("c.sqlite is a new store"), "\(repl)")
    let taken = try bench.moonbase("import", "Person", "p.csv", "d.sqlite", "--model", "model.lua")
    #expect(taken.status == 0 && taken.complaints.contains("d.sqlite is a new store"), "\(taken)")
  }

  @Test func withoutAModelTheOtherStoresMakeNone() throws {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = { Person = { attributes = { name = "string" } }, Place = { attributes = { name = "string" } } },
        configurations = { Local = { "Person" }, Far = { "Place" } } }
      """, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "Local=l.sqlite", "--store", "Far=f.sqlite", "--model", "m.lua", "-e", Self.insert)
    #expect(made.status == 0, "\(made)")
    let outcome = try bench.moonbase("run", "--store", "Local=l.sqlite", "--store", "Far=g.sqlite", "-e", "print(1)")
    #expect(outcome.status == 1 && outcome.complaints.contains("g.sqlite does not exist"), "\(outcome)")
    #expect(try !bench.names().contains("g.sqlite"))
  }

  /// The store contains its model, and a model too large to be read again makes no store.
  @Test func aModelThatIsTooLargeToBeKeptMakesNoStore() throws {
    let bench = try Workbench()
    let attributes = (0..<1000).map { "a\($0)='string'" }.joined(separator: ",")
    let entities = (0..<61).map { "T\($0) = { attributes = { \(attributes) } }" }.joined(separator: ", ")
    try bench.write("return { entities = { \(entities) } }", to: "m.lua")
    let outcome = try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", "print(1)")
    #expect(outcome.status == 1 && outcome.complaints.contains("61000 attributes in 61 entities"), "\(outcome)")
    #expect(try bench.names() == ["m.lua"])
  }
}
