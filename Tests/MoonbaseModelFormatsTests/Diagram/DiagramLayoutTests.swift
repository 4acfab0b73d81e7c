import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The positions of boxes and lines in a diagram.
@Suite struct DiagramLayoutTests {
  /// Entities, relationships between them with inverses, and parents, by their numbers.
  private static func model(
    _ count: Int, _ pairs: [(Int, Int)], parents: [Int: Int] = [:], attributes: (Int) -> Int = { $0 % 5 }
  ) -> ManagedObjectModel {
    var entities = (0..<count).map { EntityDescription("Entity\($0)") }
    for index in entities.indices {
      entities[index].superentityName = parents[index].map { "Entity\($0)" }
      entities[index].attributes = (0..<attributes(index)).map {
        AttributeDescription("attribute\(index)_\($0)", type: .integer64)
      }
    }
    for (number, (from, to)) in pairs.enumerated() {
      let (there, back) = ("there\(number)", "back\(number)")
      entities[from].relationships.append(.toMany(there, destination: "Entity\(to)", inverse: back))
      entities[to].relationships.append(.toOne(back, destination: "Entity\(from)", inverse: there))
    }
    return ManagedObjectModel(entities: entities)
  }

  private static func layout(_ model: ManagedObjectModel) throws -> DiagramLayout {
    ModelDiagram(try model.resolved(), title: "Model").layout
  }

  /// Models that can be drawn without a crossing.
  private static let plain: [(name: String, model: ManagedObjectModel)] = [
    ("tree", model(30, (1..<30).map { (($0 - 1) / 3, $0) })),
    ("star", model(25, (1..<25).map { (0, $0) })),
    ("chain", model(14, (1..<14).map { ($0 - 1, $0) })),
    ("ring", model(9, (0..<9).map { ($0, ($0 + 1) % 9) })),
    ("ladder", model(12, (0..<5).flatMap { [($0, $0 + 1), ($0 + 6, $0 + 7)] } + (0..<6).map { ($0, $0 + 6) })),
    ("hierarchy", model(20, [], parents: Dictionary(uniqueKeysWithValues: (1..<20).map { ($0, ($0 - 1) / 2) }))),
    ("pairs", model(2, [(0, 1), (1, 0), (0, 1), (0, 1)])),
    ("loops", model(1, [(0, 0), (0, 0)])),
    ("square with parents", model(4, [(0, 1), (2, 3)], parents: [2: 0, 3: 1])),
    ("alone", model(11, [])), ("none", model(0, [])),
  ]

  @Test(arguments: plain.indices) func noLinesCrossWhereNoneNeedTo(_ index: Int) throws {
    let (name, model) = Self.plain[index]
    let layout = try Self.layout(model)
    let drawn = DrawnLines(layout)
    #expect(layout.crossingCount == 0, "\(name)")
    #expect(drawn.crossings == 0, "\(name)")
    #expect(drawn.linesThroughBoxes.isEmpty && drawn.overlaps == 0, "\(name)")
  }

  private static func random(_ seed: UInt64) -> ManagedObjectModel {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let count = 2 + below(14)
    let pairs = (0..<below(2 * count)).map { _ in (below(count), below(count)) }
    var parents: [Int: Int] = [:]
    for index in 1..<count where below(4) == 0 { parents[index] = below(index) }
    var model = model(count, pairs, parents: parents) { _ in below(9) }
    for index in model.entities.indices where below(3) == 0 {
      model.entities[index].relationships.append(.toOne("only\(index)", destination: "Entity\(below(count))"))
    }
    return model
  }

  /// The number of crossings is the layout's own count, since no line takes a detour.
  @Test(arguments: 1...UInt64(Repetition.diagramSeeds.count)) func noLineLeadsThroughABox(seed: UInt64) throws {
    let layout = try Self.layout(Self.random(seed))
    let drawn = DrawnLines(layout)
    #expect(drawn.linesThroughBoxes.isEmpty && drawn.overlaps == 0)
    #expect(drawn.crossings == layout.crossingCount)
    #expect(layout.boxes.allSatisfy { $0.x >= 0 && $0.y >= 0 })
    #expect(layout.boxes.allSatisfy { $0.x + $0.width <= layout.width && $0.y + $0.height <= layout.height })
    #expect(layout.boxes.allSatisfy { $0.rowPlaces.sorted() == Array($0.rowPlaces.indices) })
  }

  @Test func aParentStandsOnTheLeftOfItsChildren() throws {
    for seed in 1...UInt64(5) {
      let model = try Self.random(seed).resolved()
      let layout = ModelDiagram(model, title: "").layout
      for entity in model.entities {
        guard let parent = entity.parent else { continue }
        #expect(layout.boxes[parent].x < layout.boxes[entity.index].x)
      }
    }
  }

  @Test(.enabled(if: RealFiles.areThere, "the real stores are not beside the checkout"))
  func aRealModelHasFewCrossings() throws {
    let model = try ManagedObjectModel(modelCache: RealFiles.modelCache(of: "plaso-NoteStore.sqlite")).resolved()
    let layout = ModelDiagram(model, title: "Notes").layout
    #expect(layout.crossingCount <= 5)
    #expect(DrawnLines(layout).linesThroughBoxes.isEmpty)
  }

  @Test func thePictureIsTheSameEachTime() throws {
    let model = try Self.random(3).resolved()
    let first = ModelDiagram(model, title: "Model")
    #expect(first.svg == ModelDiagram(model, title: "Model").svg)
    #expect(first.mermaid == ModelDiagram(model, title: "Model").mermaid)
  }
}
