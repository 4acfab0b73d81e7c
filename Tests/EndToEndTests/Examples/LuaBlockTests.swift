import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Runs every block of Lua in the documents and in comments of the sources.
///
/// A block is identified by some of its words. Each example states the block's surroundings: the store that a script
/// uses, the file that an extension's table belongs to, or the command that takes a map.
@Suite struct LuaBlockTests {
  /// How to run a block, and words that its output must contain.
  struct Example: Sendable {
    let mark: String
    let output: String
    let run: @Sendable (LuaBlockBench, String) throws -> String

    init(_ mark: String, gives output: String, _ run: @escaping @Sendable (LuaBlockBench, String) throws -> String) {
      (self.mark, self.output, self.run) = (mark, output, run)
    }
  }

  private static func blocks() throws -> [DocumentBlock] {
    try DocumentBlock.documents("lua") + DocumentBlock.comments("lua", below: "Sources")
  }

  @Test func everyBlockHasAWayToRun() throws {
    let blocks = try Self.blocks()
    #expect(blocks.count > 25)
    for block in blocks {
      let known = Self.examples.filter { block.code.contains($0.mark) }
      #expect(known.count == 1, "\(block.place) does not run: say in LuaBlockTests+Examples.swift what it is a part of")
    }
    for example in Self.examples {
      #expect(blocks.contains { $0.code.contains(example.mark) }, "\(example.mark) is gone")
    }
  }

  @Test(arguments: examples.map(\.mark)) func theBlockRuns(_ mark: String) throws {
    let example = try #require(Self.examples.first { $0.mark == mark })
    for block in try Self.blocks() where block.code.contains(mark) {
      let output = try example.run(LuaBlockBench(), block.code)
      #expect(output.contains(example.output), "\(block.place): \(output)")
    }
  }
}

/// A folder with a model for all blocks.
final class LuaBlockBench: Sendable {
  let bench: Workbench

  static let model = """
    return { entities = {
      Person = {
        attributes = { name = "string", firstName = "string", lastName = "string", street = "string", city = "string",
          email = "string", age = "integer16", count = "integer64", active = "boolean",
          tags = { "transformable", transformer = "JSONTransformer" } },
        relationships = { department = { to = "Department", inverse = "people" } },
      },
      Department = {
        attributes = { name = "string", budget = "integer64" },
        relationships = { people = { to_many = "Person", inverse = "department" } },
      },
      Shape = { attributes = { boundsAsString = "string" } },
      Book = {
        attributes = { title = "string", credits = "string" },
        relationships = { authors = { to_many = "Author", inverse = "books", ordered = true } },
      },
      Author = {
        attributes = { name = "string" }, relationships = { books = { to_many = "Book", inverse = "authors" } },
      },
      Note = { attributes = { text = "string", date = "date" } },
      Word = { attributes = { text = "string", length = "integer64", count = { "integer64", default = 0 } } },
    } }
    """

  init() throws {
    bench = try Workbench()
    try bench.write(Self.model, to: "m.lua")
  }

  /// Returns the output of a command, which must succeed without complaints.
  @discardableResult
  func moonbase(_ arguments: String..., complaining: Bool = false) throws -> String {
    let outcome = try bench.moonbase(arguments)
    #expect(outcome.status == 0 && (complaining || outcome.complaintsBesideNewStores.isEmpty), "\(outcome)")
    return outcome.output
  }

  /// Runs a script over a store of the model, with extensions; the script may use `context`.
  @discardableResult
  func script(_ code: String, extension text: String? = nil, options: [String] = []) throws -> String {
    try bench.write("local context = moonbase.context\n" + code, to: "script.lua")
    var arguments = ["run", "--store", "s.sqlite", "--model", "m.lua"] + options
    if let text {
      try bench.write(text, to: "extension.lua")
      arguments += ["--extension", "extension.lua"]
    }
    let outcome = try bench.moonbase(arguments + ["script.lua"])
    #expect(outcome.status == 0 && outcome.complaintsBesideNewStores.isEmpty, "\(outcome)")
    return outcome.output
  }
}
