import MoonbaseTestSupport
import Testing

@testable import MoonbaseModel

/// Names of properties in a hierarchy, which is walked once.
@Suite struct PropertyNamesTests {
  private func entity(_ name: String, parent: String? = nil, _ names: [String]) -> EntityDescription {
    var entity = EntityDescription(name)
    entity.superentityName = parent
    entity.attributes = names.map { AttributeDescription($0, type: .string) }
    return entity
  }

  private func mistakes(_ entities: EntityDescription...) throws -> [String: [String]] {
    try PropertyNames(of: ManagedObjectModel(entities: entities)).mistakes.mapValues { $0.map(\.message) }
  }

  @Test func eachNameIsComparedWithThoseAboveIt() throws {
    // Subentities may come first, and siblings may have the same names.
    let found = try mistakes(
      entity("C", parent: "B", ["a", "x"]), entity("D", parent: "A", ["x", "b"]), entity("A", ["a", "a"]),
      entity("B", parent: "A", ["b", "x"]), entity("Other", ["a", "b"]))
    #expect(
      found == [
        "A": ["entity A declares a twice: rename one of them"],
        "C": [
          "entity C declares a and inherits it from A: rename one of them",
          "entity C declares x and inherits it from B: rename one of them",
        ],
      ])
  }

  @Test func anEntityHasNoMorePropertiesThanSlots() throws {
    func names(_ prefix: String, _ count: Int) -> [String] { (0..<count).map { "\(prefix)\($0)" } }
    let found = try mistakes(
      entity("A", names("a", 6000)), entity("B", parent: "A", names("b", 4000)), entity("C", parent: "B", ["c"]))
    #expect(found == ["C": ["entity C has more than 10000 properties"]])
  }

  @Test func whatIsInheritedIsNotLookedAtAgain() throws {
    func model(isDeep: Bool) -> ManagedObjectModel {
      let entities = (0..<100).map { index in
        entity("E\(index)", parent: isDeep && index > 0 ? "E\(index - 1)" : nil, (0..<90).map { "e\(index)x\($0)" })
      }
      return ManagedObjectModel(entities: entities)
    }
    func seconds(_ model: ManagedObjectModel) throws -> Double {
      try (0..<5).map { _ in try processorSeconds { _ = try PropertyNames(of: model) } }.min() ?? 0
    }
    // A walk for each entity would visit the names of the deep model fifty times.
    let (deep, flat) = (try seconds(model(isDeep: true)), try seconds(model(isDeep: false)))
    #expect(deep < flat * 8, "\(deep), \(flat)")
  }
}
