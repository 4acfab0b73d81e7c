import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// The types file for editors names the keys that the reader knows.
@Suite struct ModelTypesFileTests {
  /// The names of the fields of a class in `lua/types/model.lua`.
  private func fields(of name: String) throws -> [String] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../lua/types/model.lua").standardizedFileURL
    let text = try String(contentsOf: file, encoding: .utf8)
    let parts = text.components(separatedBy: "---@class moonbase.")
    let part = try #require(parts.first { $0.hasPrefix("\(name)\n") || $0.hasPrefix("\(name):") })
    return part.split(separator: "\n").filter { $0.hasPrefix("---@field ") && !$0.hasPrefix("---@field [") }.map {
      String($0.dropFirst("---@field ".count).prefix { $0 != "?" && $0 != " " })
    }
  }

  /// Whether the reader knows a key: its error then concerns the value, not the key.
  private func isKnown(_ key: String, _ wrap: (ModelTree) -> ModelTree, list: [ModelTree] = []) -> Bool {
    let table = ModelTree.table(list, entries: [.init(key, tree: .table(["?"], entries: [.init("?", tree: "?")]))])
    do {
      _ = try ManagedObjectModel(tree: wrap(table), file: "m")
      return true
    } catch {
      return !"\(error)".contains("there is no key \(key)")
    }
  }

  private func entity(_ tree: ModelTree) -> ModelTree { .map(["entities": .map(["A": tree])]) }

  @Test func everyFieldIsAKeyOfTheReader() throws {
    for key in try fields(of: "Model") { #expect(isKnown(key, { $0 }), "\(key)") }
    for key in try fields(of: "EntityModel") { #expect(isKnown(key, entity), "\(key)") }
    for key in try fields(of: "AttributeModel") {
      #expect(isKnown(key, { entity(.map(["attributes": .map(["a": $0])])) }, list: ["string"]), "\(key)")
    }
    for key in try fields(of: "FetchModel") {
      #expect(isKnown(key, { .map(["fetch_requests": .map(["f": $0])]) }, list: ["A"]), "\(key)")
    }
    for key in try fields(of: "FetchModel") + fields(of: "FetchedPropertyModel") {
      #expect(isKnown(key, { entity(.map(["fetched_properties": .map(["f": $0])])) }, list: ["A"]), "\(key)")
    }
    for key in try fields(of: "IndexElementModel") {
      #expect(isKnown(key, { entity(.map(["indexes": .map(["i": [$0]])])) }, list: ["a"]), "\(key)")
    }
  }

  @Test func aKeyThatIsNoneIsNoticed() {
    #expect(!isKnown("optionl", { entity(.map(["attributes": .map(["a": $0])])) }, list: ["string"]))
  }
}
