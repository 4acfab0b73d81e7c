import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The program that generates classes when a target is built.
@Suite struct ModelToolTests {
  private let bench: Workbench

  private static let model = """
    return { entities = {
      Person = { class = "Person", attributes = { name = "string", kind = { "string", one_of = { "a", "b" } } } },
      Pet = { class = "Pet", attributes = { name = "string" } },
    } }
    """

  init() throws {
    bench = try Workbench()
    try bench.write(Self.model, to: "Shop.model.lua")
  }

  private func tool(_ arguments: String...) throws -> Workbench.Outcome {
    let tool = Workbench.command.deletingLastPathComponent().appendingPathComponent("moonbase-model")
    return try bench.run(tool, arguments, input: "")
  }

  @Test func itWritesWhatTheCommandPrints() throws {
    let printed = try bench.moonbase("model", "swift", "Shop.model.lua")
    #expect(printed.output.contains("enum ShopClasses {") && printed.output.contains("enum Kind: String,"))
    #expect(try tool("Shop.model.lua", "Classes.swift").status == 0)
    #expect(try bench.bytes(of: "Classes.swift") == Data(printed.output.utf8))
    #expect(try bench.moonbase("model", "convert", "Shop.model.lua", "Shop.xcdatamodeld").status == 1)
  }

  @Test func itReadsModelsOfXcode() throws {
    try bench.write(Self.model.replacingOccurrences(of: ", one_of = { \"a\", \"b\" }", with: ""), to: "plain.lua")
    #expect(try bench.moonbase("model", "convert", "plain.lua", "Shop.xcdatamodeld").status == 0)
    let outcome = try tool("Shop.xcdatamodeld", "Classes.swift")
    #expect(outcome.status == 0 && outcome.complaints == "")
    #expect(try String(decoding: bench.bytes(of: "Classes.swift"), as: UTF8.self).contains("enum ShopClasses {"))
  }

  @Test func classesOfTheProgramGetTheirPropertiesOnly() throws {
    #expect(try tool("Shop.model.lua", "Classes.swift", "Person", "Main").status == 0)
    let text = try String(decoding: bench.bytes(of: "Classes.swift"), as: UTF8.self)
    #expect(!text.contains("class Person:") && text.contains("extension Person {") && text.contains("class Pet:"))
  }

  @Test func eachMistakeIsToldAsCompilersDo() throws {
    try bench.write(
      """
      return { entities = {
        Person = { attributes = { name = "strin" },
          relationships = { pet = { to = "Pe" } } },
      } }
      """, to: "Shop.model.lua")
    let outcome = try tool("Shop.model.lua", "Classes.swift")
    #expect(outcome.status == 1 && outcome.output == "")
    #expect(
      outcome.complaints.hasPrefix("Shop.model.lua:2: error: entity Person, attribute name: there is no type strin"))
    #expect(try !bench.names().contains("Classes.swift"))
    #expect(
      try tool("None.model.lua", "Classes.swift").complaints.contains("None.model.lua: error: there is no such file"))
    #expect(try tool("Shop.model.lua").status == 1)
  }
}
