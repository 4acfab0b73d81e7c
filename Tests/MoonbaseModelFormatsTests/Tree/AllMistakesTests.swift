import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// All mistakes of a model are reported together.
@Suite struct AllMistakesTests {
  private func lines(_ body: () throws -> some Any) -> [String] {
    do {
      _ = try body()
      return []
    } catch {
      return "\(error)".split(separator: "\n").map(String.init)
    }
  }

  @Test func theCheckerTellsAll() {
    let model = ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("age", type: .undefined)
        AttributeDescription("hash", type: .string)
        RelationshipDescription.toOne("boss", destination: "Persn")
        UniquenessConstraint("nam")
      }
    }
    #expect(
      lines { try model.resolved() } == [
        "entity Person: no property may be called hash, the name of a method of every object: rename it",
        "Person.age has no type, so no store can keep it: give it one or make it transient",
        "Person.boss: its destination Persn is not in the model; did you mean Person?",
        "entity Person: its uniqueness constraint names nam, which is no attribute or to-one relationship of it",
      ])
  }

  @Test func theTreeReaderTellsAll() {
    let tree = ModelTree.map([
      "entities": .map([
        "A": .map(["attributes": .map(["x": "strng", "y": "dat"]), "parnt": "B"], line: 2),
        "B": .map(["relationships": .map(["a": .map(["too": "A"])])], line: 3),
      ]), "fetch_requests": .map(["all": .table(["A", "x ="])]), "vrsion": 1,
    ])
    let mistakes = lines { try ManagedObjectModel(tree: tree, file: "m.lua") }
    #expect(mistakes.count == 6, "\(mistakes)")
    for part in [
      "attribute x: there is no type strng; did you mean string?", "attribute y", "no key parnt; did you mean parent?",
      "relationship a", "fetch request all", "no key vrsion; did you mean version?",
    ] { #expect(mistakes.contains { $0.contains(part) }, "\(part) in \(mistakes)") }
  }

  @Test func theReaderOfXcodesFormTellsAll() {
    let text = """
      <model>
        <entity name="A">
          <attribute name="x" attributeType="Strng"/>
          <relationship name="b" destinationEntity="B" toMany="perhaps"/>
        </entity>
        <configuration/>
      </model>
      """
    let mistakes = lines { try ManagedObjectModel.read(ModelSource(Data(text.utf8), name: "contents")) }
    #expect(mistakes.map { $0.prefix(11) } == ["contents:3:", "contents:4:", "contents:6:"], "\(mistakes)")
  }

  @Test func aHundredAreEnough() throws {
    let entity = EntityDescription("A") {
      for number in 0..<300 { AttributeDescription("a\(number)", type: .undefined) }
    }
    let error = #expect(throws: ModelError.self) { try ManagedObjectModel(entities: [entity]).resolved() }
    #expect(error?.all.count == 100)
  }

  @Test func placesOfEverythingAreNamed() {
    let tree = ModelTree.map([
      "entities": .map([
        "A": .map(
          [
            "attributes": .map(["x": .value("string", line: 3)]),
            "relationships": .map(["r": .map(["to_many": "A", "inverse": "r"], line: 4)]),
            "constraints": .table([.table(["q"], line: 5)], line: 5),
            "indexes": .table(
              [], entries: [.init("i", tree: .table(["z"], line: 6)), .init("j", tree: .table(["r"], line: 7))]),
          ], line: 2)
      ]),
      "fetch_requests": .map(["old": .table(["Persn"], line: 8)]),
      "configurations": .map(["C": .table(["Q"], line: 9)]),
    ])
    let mistakes = lines { try ManagedObjectModel(tree: tree, file: "m.lua").resolved() }
    #expect(mistakes.map { $0.prefix(8) } == (5...9).map { "m.lua:\($0):" }, "\(mistakes)")
  }

  @Test(
    arguments: [
      (.table(["A", "x = 1"], line: 2), "impossible comparison"),
      (.table(["A"], entries: [.init("sort", tree: "y")], line: 2), "no property y"),
      (.table(["A"], entries: [.init("prefetch", tree: "petz")], line: 2), "no property petz"),
      (.table(["A"], entries: [.init("group_by", tree: "agg")], line: 2), "no property agg"),
      (.table(["A"], entries: [.init("columns", tree: ["q"])], line: 2), "no property q"),
      (
        .table(["A"], entries: [.init("group_by", tree: "x"), .init("having", tree: "q > 1")], line: 2),
        "q is neither a column"
      ),
      (.table(["A"], entries: [.init("limit", tree: -5)], line: 2), "the limit of the fetch is -5"),
      (.table(["A"], entries: [.init("offset", tree: -5)], line: 2), "the offset of the fetch is -5"),
      (.table(["A"], entries: [.init("batch", tree: -5)], line: 2), "the batch size of the fetch is -5"),
    ] as [(ModelTree, String)])
  func wholeFetchesAreChecked(_ fetch: ModelTree, _ message: String) {
    let tree = ModelTree.map([
      "entities": .map(["A": .map(["attributes": .map(["x": "string"])])]), "fetch_requests": .map(["f": fetch]),
    ])
    let mistakes = lines { try ManagedObjectModel(tree: tree, file: "m.lua").resolved() }
    #expect(mistakes.count == 1)
    #expect(mistakes.first?.hasPrefix("m.lua:2: fetch request f: ") == true, "\(mistakes)")
    #expect(mistakes.first?.contains(message) == true, "\(mistakes)")
  }

  @Test(arguments: [
    ("age > $FETCH_SOURCE.age", ""), ("boss = $FETCH_SOURCE", ""), ("age > $FETCHED_PROPERTY.userInfo.least", ""),
    ("age > $FETCH_SOURCE.agee", "did you mean age?"), ("age > $FETCH_SOURCE.name", "impossible comparison"),
  ])
  func theSourceOfAFetchIsChecked(_ predicate: String, _ message: String) throws {
    let request = try FetchRequest("A", where: predicate)
    let entity = EntityDescription("A") {
      AttributeDescription("age", type: .integer16)
      AttributeDescription("name", type: .string)
      RelationshipDescription.toOne("boss", destination: "A")
      FetchedPropertyDescription("older", fetchRequest: request)
    }
    let mistakes = lines { try ManagedObjectModel(entities: [entity]).resolved() }
    #expect(message.isEmpty ? mistakes.isEmpty : mistakes.first?.contains(message) == true, "\(mistakes)")
  }

  @Test func lengthsAreNotNegative() {
    let mistakes = lines {
      try ManagedObjectModel {
        EntityDescription("A") { AttributeDescription("x", type: .string).with { $0.validation.minimumLength = -1 } }
      }.resolved()
    }
    #expect(mistakes == ["A.x has a length of -1: no string is shorter than 0"])
  }
}
