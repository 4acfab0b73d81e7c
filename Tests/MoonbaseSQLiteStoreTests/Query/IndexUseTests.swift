import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// The index that SQLite's plan uses for each shape of condition and order.
@Suite struct IndexUseTests {
  /// Things with an index of each kind of column, in boxes, with marks.
  private static func model() -> ManagedObjectModel {
    func index(_ name: String, _ keys: [String]) -> FetchIndexDescription {
      FetchIndexDescription(
        name,
        elements: keys.map { key in
          var element = FetchIndexDescription.Element(key.hasPrefix("-") ? String(key.dropFirst()) : key)
          element.isAscending = !key.hasPrefix("-")
          return element
        })
    }
    var thing = EntityDescription("Thing")
    thing.attributes = [
      AttributeDescription("whole", type: .integer64), AttributeDescription("name", type: .string),
      AttributeDescription("price", type: .decimal), AttributeDescription("ratio", type: .float),
      AttributeDescription("born", type: .date), AttributeDescription("score", type: .double),
      AttributeDescription("code", type: .string), AttributeDescription("plain", type: .integer64),
    ]
    thing.indexes = [
      index("byWhole", ["whole"]), index("byName", ["name"]), index("byPrice", ["price"]), index("byRatio", ["ratio"]),
      index("byBirth", ["born", "plain"]), index("byScore", ["-score"]),
    ]
    thing.uniquenessConstraints = [["code"]]
    thing.relationships = [
      .toOne("box", destination: "Box", inverse: "things"), .toMany("marks", destination: "Mark", inverse: "things"),
    ]
    var box = EntityDescription("Box")
    box.attributes = [AttributeDescription("name", type: .string)]
    box.relationships = [.toMany("things", destination: "Thing", inverse: "box")]
    var mark = EntityDescription("Mark")
    mark.attributes = [AttributeDescription("rank", type: .integer64)]
    mark.indexes = [index("byRank", ["rank"])]
    mark.relationships = [.toMany("things", destination: "Thing", inverse: "marks")]
    return ManagedObjectModel(entities: [thing, box, mark])
  }

  private let people: PeopleStore

  init() throws { people = try PeopleStore(Self.model()) }

  private func steps(
    _ format: String, _ keys: [String] = [], of entity: String = "Thing", with values: [Value] = []
  ) throws -> [String] {
    var query = people.query(entity, try Predicate(format: format, arguments: values))
    query.sortDescriptors = keys.map { SortDescriptor(text: $0) }
    let plan = try people.store.plan(query)
    #expect(plan.isComplete)
    return try people.store.steps(of: plan)
  }

  @Test(arguments: [
    ("whole == 3", "Z_Thing_byWhole (ZWHOLE=?)"), ("3 == whole", "Z_Thing_byWhole (ZWHOLE=?)"),
    ("whole == NULL", "Z_Thing_byWhole (ZWHOLE=?)"), ("whole > 3", "Z_Thing_byWhole (ZWHOLE>?)"),
    ("whole >= 3 AND whole < 9", "Z_Thing_byWhole (ZWHOLE>? AND ZWHOLE<?)"),
    ("whole BETWEEN {3, 9}", "Z_Thing_byWhole (ZWHOLE>? AND ZWHOLE<?)"),
    ("whole IN {3, 9}", "Z_Thing_byWhole (ZWHOLE=?)"),
    ("name == 'x'", "Z_Thing_byName (ZNAME=?)"), ("name < 'x'", "Z_Thing_byName (ZNAME<?)"),
    ("name IN {'x', 'y'}", "Z_Thing_byName (ZNAME=?)"),
    ("name BEGINSWITH 'x'", "Z_Thing_byName (ZNAME>? AND ZNAME<?)"),
    ("price > 9.99", "Z_Thing_byPrice (ZPRICE>?)"), ("price >= 9.99 AND whole != 3", "Z_Thing_byPrice (ZPRICE>?)"),
    ("ratio == 0.5", "Z_Thing_byRatio (ZRATIO>? AND ZRATIO<?)"), ("ratio < 0.5", "Z_Thing_byRatio (ZRATIO<?)"),
    ("born > CAST(3, 'NSDate')", "Z_Thing_byBirth (ZBORN>?)"),
    ("born == CAST(3, 'NSDate') AND plain > 3", "Z_Thing_byBirth (ZBORN=? AND ZPLAIN>?)"),
    ("score > 3.5", "Z_Thing_byScore (ZSCORE>?)"), ("code == 'x'", "Z_Thing_UNIQUE_code (ZCODE=?)"),
  ])
  func aConditionGoesThroughTheIndexOfItsColumn(_ format: String, _ index: String) throws {
    let steps = try steps(format)
    #expect(steps.first == "SEARCH t0 USING INDEX " + index, "\(steps)")
  }

  @Test func alternativesGoThroughAnIndexEach() throws {
    for format in ["whole == 3 OR name == 'x'", "price == 9.99", "price < 9.99"] {
      let steps = try steps(format)
      #expect(steps.first == "MULTI-INDEX OR" && steps.count { $0.contains("USING INDEX Z_Thing_by") } == 2, "\(steps)")
    }
  }

  @Test func objectsGoThroughTheirKeysAndRelationshipsThroughTheirIndexes() throws {
    let store = StoreNumber(people.store.identifier)
    let thing = Value.objectID(ManagedObjectID(store: store, entity: people.entity("Thing").symbol, key: 1))
    let box = Value.objectID(ManagedObjectID(store: store, entity: people.entity("Box").symbol, key: 1))
    let byKey = "SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"
    #expect(try steps("SELF == %@", with: [thing]) == [byKey])
    #expect(try steps("SELF IN %@", with: [.list([thing])]).first == byKey)
    #expect(try steps("box == %@", with: [box]) == ["SEARCH t0 USING INDEX ZTHING_ZBOX_INDEX (ZBOX=?)"])
    #expect(try steps("box.name == 'x'") == ["SCAN t1", "SEARCH t0 USING INDEX ZTHING_ZBOX_INDEX (ZBOX=?)"])
    #expect(try steps("SELF == %@ AND ANY marks.rank > 3", with: [thing]).first == byKey)
  }

  /// No condition narrows the requested rows; their destinations are found by an index.
  @Test(arguments: [
    ("ANY things.plain == 3", "Box"), ("ANY things.whole == 3", "Box"), ("things.@count > 3", "Box"),
    ("things.@sum.plain > 3", "Box"), ("SUBQUERY(things, $t, $t.plain > 3).@count > 1", "Box"),
    ("marks.@count > 1", "Thing"),
    ("ANY marks.rank > 3", "Thing"),
  ]) func whatARelationshipLeadsToIsNotScanned(_ format: String, _ entity: String) throws {
    let steps = try steps(format, of: entity)
    #expect(steps.first == "SCAN t0" && steps.dropFirst().contains { $0.contains("  SEARCH ") }, "\(steps)")
    #expect(steps.dropFirst().allSatisfy { !$0.contains("SCAN") }, "\(steps)")
  }

  @Test(arguments: [
    (["whole"], "byWhole", true), (["-whole"], "byWhole", true), (["name"], "byName", true),
    (["born", "plain"], "byBirth", true), (["-born", "-plain"], "byBirth", true),
    (["whole", "name"], "byWhole", false),
    (["born", "-plain"], "byBirth", false), (["-score"], "byScore", false), (["score"], "byScore", false),
  ])
  func anOrderGoesThroughTheIndexOfItsKeysAndSortsOnlyWhatThatLeaves(
    _ keys: [String], _ index: String, isWhole: Bool
  ) throws {
    let steps = try steps("TRUEPREDICATE", keys)
    #expect(steps.first == "SCAN t0 USING INDEX Z_Thing_" + index)
    // Only rows equal in the indexed keys are sorted.
    #expect(
      steps.dropFirst().allSatisfy { $0.hasSuffix(" OF ORDER BY") } && steps.count == (isWhole ? 1 : 2), "\(steps)")
  }

  @Test func aConditionAndAnOrderOfOneIndexNeedNoSorting() throws {
    #expect(try steps("whole > 3", ["-whole"]) == ["SEARCH t0 USING INDEX Z_Thing_byWhole (ZWHOLE>?)"])
    #expect(
      try steps("born == CAST(3, 'NSDate')", ["plain"]) == ["SEARCH t0 USING INDEX Z_Thing_byBirth (ZBORN=?)"])
    #expect(try steps("whole == 3", ["whole"]) == ["SEARCH t0 USING INDEX Z_Thing_byWhole (ZWHOLE=?)"])
  }

  @Test func groupsOfAnIndexedColumnAreNotSorted() throws {
    var query = people.query("Thing")
    query.columns = QueryColumns([.value(["whole"]), .objectCount])
    query.columns?.groupKeys = [["whole"]]
    query.sortDescriptors = [SortDescriptor("whole")]
    #expect(
      try people.store.steps(of: people.store.plan(query)) == ["SCAN t0 USING COVERING INDEX Z_Thing_byWhole"])
  }
}
