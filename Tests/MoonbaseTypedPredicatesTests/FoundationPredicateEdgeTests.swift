import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import MoonbaseTypedPredicates
import Testing

/// Foundation predicates over edge cases: nil within lists, empty texts, negative numbers, nested optionals, and
/// captured values.
@Suite struct FoundationPredicateEdgeTests {
  class Item: ManagedObject {
    static let number = Attribute<Item, Int>("number")
    static let ratio = Attribute<Item, Double?>("ratio")
    static let text = Attribute<Item, String?>("text")
    static let isDone = Attribute<Item, Bool?>("isDone")
    static let box = ToOne<Item, Box>("box")

    var number: Int { self[Self.number] }
    var ratio: Double? { self[Self.ratio] }
    var text: String? { self[Self.text] }
    var isDone: Bool? { self[Self.isDone] }
    var box: Box? { self[Self.box] }

    override class var overriddenLifecycleMethods: LifecycleHooks { [] }
    override class var keyPaths: [PropertyKeyPath] {
      [
        .init(\Item.number, number), .init(\Item.ratio, ratio), .init(\Item.text, text), .init(\Item.isDone, isDone),
        .init(\Item.box, box),
      ]
    }
  }

  final class Box: ManagedObject {
    static let label = Attribute<Box, String?>("label")
    static let items = ToMany<Box, Item>("items")
    static let outer = ToOne<Box, Box>("outer")

    var label: String? { self[Self.label] }
    var items: [Item] { self[Self.items] }
    var outer: Box? { self[Self.outer] }

    override class var overriddenLifecycleMethods: LifecycleHooks { [] }
    override class var keyPaths: [PropertyKeyPath] {
      [.init(\Box.label, label), .init(\Box.items, items), .init(\Box.outer, outer)]
    }
  }

  private static func bench(_ kind: StoreKind) throws -> StoreBench {
    var item = EntityDescription("Item")
    item.managedObjectClassName = "Item"
    item.attributes = [
      AttributeDescription("number", type: .integer64), AttributeDescription("ratio", type: .double),
      AttributeDescription("text", type: .string), AttributeDescription("isDone", type: .boolean),
    ]
    item.relationships = [.toOne("box", destination: "Box", inverse: "items")]
    var box = EntityDescription("Box")
    box.managedObjectClassName = "Box"
    box.attributes = [AttributeDescription("label", type: .string)]
    box.relationships = [.toMany("items", destination: "Item", inverse: "box"), .toOne("outer", destination: "Box")]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [item, box]))
    bench.coordinator.register(Item.self, forClassName: "Item")
    bench.coordinator.register(Box.self, forClassName: "Box")
    let context = bench.context()
    let outer = try context.insert(Box.self, values: ["label": "x"])
    let boxes = try [nil, "x", ""].map {
      try context.insert(Box.self, values: ["label": $0.map(Value.string) ?? .null])
    }
    try boxes[0].setObject(outer, forKey: "outer")
    try boxes[2].setObject(boxes[0], forKey: "outer")
    let texts: [String?] = [nil, "", "x", "dx", "éx", "yyy", "abc"]
    for number in 0..<42 {
      let item = try context.insert(
        Item.self,
        values: [
          "number": .int(Int64(number - 20)), "text": texts[number % 7].map(Value.string) ?? .null,
          "isDone": [.null, true, false][number % 3],
          "ratio": number % 4 == 0 ? .null : .double(Double(number - 20) / 4),
        ])
      if number % 5 < 3 { try item.setObject(boxes[number % 5], forKey: "box") }
    }
    try context.save()
    return bench
  }

  struct Captured: Codable, Sendable {
    var limit = 3
    var name: String?
    var range = -4...6
    var inner = Inner()
  }

  struct Inner: Codable, Sendable {
    var numbers = [1, 2, 20]
  }

  enum Case: CaseIterable {
    case listWithNothing, notInListWithNothing, containsNothing, beginsWithNothing, length, lengthOfOptional, composed
    case remainder, quotient, floatQuotient, minus, optionalBool, notOptionalBool, optionalBoolIsNil, coalescedBool
    case chainOfLists, countOfOptional, coalescedChain, conditionalOptional, capturedStruct, emptyList, nestedOptional
    case comparedOptionals, notWithin, doubleNegation, ratioRange, emptyCount, condition, twoStrings, allOfNone
    case capturedRange, capturedWithin, capturedCount, countIsNothing, countPlusOne, noCount, negatedCount
    case unwrapped, boolEquality, sumOfOptional, containsText, characters

    var predicate: FoundationPredicate<Item> {
      let (captured, list, none) = (Captured(limit: 3, name: "x"), [nil, "x"] as [String?], [Int]())
      let nothing: String? = nil
      switch self {
      case .listWithNothing: return #Predicate { list.contains($0.text) }
      case .notInListWithNothing: return #Predicate { !list.contains($0.text) }
      case .containsNothing: return #Predicate { $0.text?.contains("") == true }
      case .beginsWithNothing: return #Predicate { $0.text?.starts(with: "") == true }
      case .length: return #Predicate { ($0.text ?? "").count == 1 }
      case .lengthOfOptional: return #Predicate { $0.text?.count == 2 }
      case .composed: return #Predicate { $0.text == "éx" }
      case .remainder: return #Predicate { $0.number % 3 == -1 }
      case .quotient: return #Predicate { $0.number / 3 == -1 }
      case .floatQuotient: return #Predicate { ($0.ratio ?? 1) / 2 > 0.75 }
      case .minus: return #Predicate { -$0.number > 4 }
      case .optionalBool: return #Predicate { $0.isDone == true }
      case .notOptionalBool: return #Predicate { $0.isDone != true }
      case .optionalBoolIsNil: return #Predicate { $0.isDone == nil }
      case .coalescedBool: return #Predicate { $0.isDone ?? ($0.number > 0) }
      case .chainOfLists: return #Predicate { $0.box?.items.contains { $0.number > 18 } == true }
      case .countOfOptional: return #Predicate { ($0.box?.items.count ?? 99) > 8 }
      case .coalescedChain: return #Predicate { ($0.text ?? $0.box?.label ?? "x") == "x" }
      case .conditionalOptional: return #Predicate { ($0.number > 0 ? $0.text : nothing) == nil }
      case .capturedStruct: return #Predicate { $0.number > captured.limit && $0.text != captured.name }
      case .capturedRange: return #Predicate { captured.range.contains($0.number) }
      case .capturedWithin: return #Predicate { captured.inner.numbers.contains($0.number) }
      case .capturedCount: return #Predicate { $0.number == captured.inner.numbers.count }
      case .countIsNothing: return #Predicate { $0.box?.items.count == nil }
      case .countPlusOne: return #Predicate { ($0.box.flatMap { $0.items.count + 1 } ?? 0) > 9 }
      case .noCount: return #Predicate { $0.box?.items.count != 9 }
      case .negatedCount: return #Predicate { !($0.box?.items.count == 9) }
      case .emptyList: return #Predicate { none.contains($0.number) || $0.number == 3 }
      case .nestedOptional: return #Predicate { $0.box?.outer?.label == "x" }
      case .comparedOptionals: return #Predicate { $0.text != $0.box?.outer?.label }
      case .notWithin: return #Predicate { !($0.box?.items.allSatisfy { $0.number < 21 } == true) }
      case .doubleNegation: return #Predicate { !(!($0.text == "x")) }
      case .ratioRange: return #Predicate { (-2.5..<2.5).contains($0.ratio ?? 9) }
      case .emptyCount: return #Predicate { $0.box?.items.isEmpty == false }
      case .condition: return #Predicate { ($0.number > 0) == ($0.isDone == true) }
      case .twoStrings: return #Predicate { ($0.text ?? "") < "x" }
      case .allOfNone: return #Predicate { none.allSatisfy { $0 == 3 } && $0.number > 2 }
      case .unwrapped: return #Predicate { $0.text != nil && $0.text! > "b" }
      case .boolEquality: return #Predicate { ($0.text == nil) != ($0.box == nil) }
      case .sumOfOptional: return #Predicate { ($0.ratio ?? 0) + 1.0 > 2.0 }
      case .containsText: return #Predicate { $0.text?.contains("x") ?? false }
      case .characters: return #Predicate { ($0.text ?? "").contains("x") }
      }
    }
  }

  @Test(arguments: StoreKind.allCases, Case.allCases)
  func aFetchFindsWhatThePredicateSays(_ kind: StoreKind, _ test: Case) throws {
    let bench = try Self.bench(kind)
    let context = bench.context()
    let all = try context.fetch(Item.self)
    let expected = try all.filter { try test.predicate.evaluate($0) }
    #expect(!expected.isEmpty && expected.count < all.count)
    let converted = try MoonbaseModel.Predicate(test.predicate)
    let found = try context.fetch(test.predicate)
    func numbers(_ items: [Item]) -> [Int] { items.map(\.number).sorted() }
    #expect(numbers(found) == numbers(expected), "\(converted)")
  }
}
