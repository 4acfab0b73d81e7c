import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Indexes of expressions, partial indexes and spatial indexes, as a model declares them.
@Suite struct DeclaredIndexTests {
  private static func index(
    _ name: String, of keys: String..., expression: String? = nil, where condition: String? = nil
  )
    -> FetchIndexDescription
  {
    var index = FetchIndexDescription(name, elements: keys.map { FetchIndexDescription.Element($0) })
    if let expression {
      var element = FetchIndexDescription.Element(expression)
      element.isExpression = true
      index.elements.append(element)
    }
    index.partialIndexPredicate = condition
    return index
  }

  private static func model(_ indexes: FetchIndexDescription...) -> ManagedObjectModel {
    var thing = EntityDescription("Thing") {
      AttributeDescription("whole", type: .integer64)
      AttributeDescription("plain", type: .integer32)
      AttributeDescription("active", type: .boolean)
      AttributeDescription("name", type: .string)
      AttributeDescription("born", type: .date)
      AttributeDescription("score", type: .double)
      AttributeDescription("ratio", type: .float)
      AttributeDescription("price", type: .decimal)
      RelationshipDescription.toOne("box", destination: "Box", inverse: "things")
    }
    thing.indexes = indexes
    let box = EntityDescription("Box") {
      RelationshipDescription.toMany("things", destination: "Thing", inverse: "box")
    }
    return ManagedObjectModel(entities: [thing, box])
  }

  private static func rTree() -> FetchIndexDescription {
    var index = index("byPlace", of: "score", "name")
    for place in index.elements.indices { index.elements[place].kind = .rTree }
    return index
  }

  /// The first step of SQLite's plan for a condition.
  private func step(_ format: String, _ people: PeopleStore) throws -> String {
    let plan = try people.store.plan(people.query("Thing", try Predicate(format: format)))
    #expect(plan.isComplete)
    return try people.store.steps(of: plan)[0]
  }

  private func statement(_ index: FetchIndexDescription) throws -> String? {
    let people = try PeopleStore(Self.model(index))
    return try RawDatabase(people.folder.file()).schema("Z_Thing_\(index.name)")
  }

  @Test(arguments: [
    ("whole * plain", "(ZWHOLE * ZPLAIN)", "whole * plain > 6"), ("whole * 2", "(ZWHOLE * 2)", "6 < whole * 2"),
    ("score / 2.5 + whole", "((ZSCORE / 2.5) + ZWHOLE)", "score / 2.5 + whole > 7"),
    ("whole - -3", "(ZWHOLE - -3)", "whole - -3 > 6"), ("ratio + 1", "(ZRATIO + 1)", "ratio + 1 > 6"),
  ])
  func aComputationIsIndexedInTheWordsOfPredicates(_ expression: String, _ sql: String, _ format: String) throws {
    let people = try PeopleStore(Self.model(Self.index("computed", expression: expression)))
    #expect(
      try RawDatabase(people.folder.file()).schema("Z_Thing_computed")
        == "CREATE INDEX Z_Thing_computed ON ZTHING (\(sql) COLLATE BINARY ASC)")
    #expect(try step(format, people) == "SEARCH t0 USING INDEX Z_Thing_computed (<expr>>?)")
  }

  @Test(arguments: [
    ("active == YES", "ZACTIVE = 1", "name == 'x' AND active == YES"),
    ("name != NULL", "ZNAME IS NOT NULL", "name == 'x'"),
    ("box == NULL", "ZBOX IS NULL", "box == NULL AND name == 'x'"),
    ("whole > 3 AND plain == 2", "(ZWHOLE > 3) AND (ZPLAIN = 2)", "plain == 2 AND name == 'x' AND whole > 3"),
    ("whole == 1 OR whole == 2", "(ZWHOLE = 1) OR (ZWHOLE = 2)", "(whole == 1 OR whole == 2) AND name == 'x'"),
    ("whole BETWEEN {1, 9}", "(ZWHOLE >= 1) AND (ZWHOLE <= 9)", "name == 'x' AND whole BETWEEN {1, 9}"),
    ("born >= CAST(0, 'NSDate')", "ZBORN >= 0.0", "name == 'x' AND born >= CAST(0, 'NSDate')"),
    ("name < 'it''s'", "ZNAME < 'it''''s'", "name == 'x' AND name < 'it''s'"),
    ("whole * 2 > score", "ZSCORE < (ZWHOLE * 2)", "name == 'x' AND whole * 2 > score"),
    ("3 < whole", "ZWHOLE > 3", "name == 'x' AND 3 < whole"),
  ])
  func anIndexOfSomeRowsServesConditionsThatNameThem(_ condition: String, _ sql: String, _ format: String) throws {
    // The predicate language has no doubled quotes.
    func text(_ format: String) -> String { format.replacing("'it''s'", with: #""it's""#) }
    let people = try PeopleStore(Self.model(Self.index("some", of: "name", where: text(condition))))
    #expect(
      try RawDatabase(people.folder.file()).schema("Z_Thing_some")
        == "CREATE INDEX Z_Thing_some ON ZTHING (ZNAME COLLATE BINARY ASC) WHERE \(sql.replacing("''''", with: "''"))")
    let condition = try step(text(format), people)
    #expect(condition.hasPrefix("SEARCH t0 USING INDEX Z_Thing_some (ZNAME"))
    #expect(try step("name == 'x' AND plain == 7", people).contains("Z_Thing_some") == (sql == "ZNAME IS NOT NULL"))
  }

  /// An index that another program could not maintain, or might use differently, is not created, and the model says so.
  @Test(arguments: [
    (index("a", expression: "lowercase:(name)"), "its expression lowercase:(name): "),
    (index("a", expression: "whole * 0.1"), "its expression whole * 0.1: 0.1 has digits that "),
    (index("a", expression: "price + 1"), "its expression price + 1: price is a decimal"),
    (index("a", expression: "box.things.@count + 1"), "its expression box.things.@count + 1: "),
    (index("a", expression: "1 / 3 * whole"), "its expression 1 / 3 * whole: 1 / 3 is the same for every row"),
    (index("a", expression: "whole +"), "its expression whole + cannot be read"),
    (index("a", of: "name", where: "name ==[c] 'x'"), "its condition name ==[c] 'x': "),
    (index("a", of: "name", where: "name BEGINSWITH 'x'"), "its condition name BEGINSWITH 'x': BEGINSWITH is nothing "),
    (
      index("a", of: "name", where: "whole IN {1, 2}"), "its condition whole IN {1, 2}: IN is nothing that SQLite knows"
    ),
    (index("a", of: "name", where: "ratio > 1"), "its condition ratio > 1: ratio is of single precision"),
    (index("a", of: "name", where: "price > 1"), "its condition price > 1: price is a decimal"),
    (index("a", of: "name", where: "name > 1"), "its condition name > 1: it compares values of different kinds"),
    (index("a", of: "name", where: "TRUEPREDICATE"), "its condition TRUEPREDICATE: it says nothing of the row"),
    (index("a", of: "name", where: "1 == 1"), "its condition 1 == 1: it says nothing of the row"),
    (index("a", of: "name", where: "nothing == 1"), "its condition nothing == 1: nothing is no attribute"),
    (rTree(), "its element name is a string: an R-tree is of numbers"),
  ])
  func whatNoFileHasIsAWarningOfTheModel(_ index: FetchIndexDescription, _ reason: String) throws {
    let wanted = "entity Thing: its index \(index.name) is made in no store here: \(reason)"
    let warnings = try Self.model(index).resolved().warnings.filter { $0.contains("its index") }
    #expect(warnings.count == 1 && warnings[0].hasPrefix(wanted), "\(warnings)")
    #expect(try statement(index) == nil)
  }

  @Test func aMigrationMakesAndDropsIndexesOfTheModel() throws {
    let store = try MigratedStore()
    let before = Self.model(
      Self.index("old", expression: "whole * 2"), Self.index("same", of: "name", where: "active == YES"),
      Self.index("other", of: "name", where: "whole > 1"))
    let after = Self.model(
      Self.index("new", expression: "whole + plain"), Self.index("same", of: "name", where: "active == YES"),
      Self.index("other", of: "name", where: "whole > 2")
    ).changed { $0[entity: "Box"].attributes.append(AttributeDescription("label", type: .string)) }
    try store.fill(before) { context in _ = try context.insert("Thing", values: ["whole": 3, "plain": 4]) }
    try store.migrate(to: after)
    #expect(try store.schema() == MigratedStore.schema(of: after))
    #expect(try store.schema().contains { $0.hasSuffix("WHERE ZWHOLE > 2") })
    try store.using(after) { context in
      let found = try context.count(FetchRequest("Thing", where: "whole + plain == 7"))
      #expect(found == 1)
    }
  }

  @Test func rowsInSuchIndexesAreFoundAndChanged() throws {
    let store = try MigratedStore()
    let model = Self.model(
      Self.index("twice", expression: "whole * 2"), Self.index("some", of: "name", where: "active == YES"))
    try store.fill(model) { context in
      for number in 0..<20 {
        _ = try context.insert(
          "Thing",
          values: ["whole": .int(Int64(number)), "name": .string("n\(number % 4)"), "active": .bool(number % 2 == 0)])
      }
    }
    try store.using(model) { context in
      #expect(try context.count(FetchRequest("Thing", where: "whole * 2 == 10")) == 1)
      let some = try context.fetch(FetchRequest("Thing", where: "active == YES AND name == 'n2'"))
      #expect(some.count == 5)
      for thing in some { try thing.setValue(.bool(false), forKey: "active") }
      try context.save()
      #expect(try context.count(FetchRequest("Thing", where: "active == YES AND name == 'n2'")) == 0)
    }
    #expect(try RawDatabase(store.url).value("PRAGMA integrity_check") == "ok")
  }

  /// A virtual table of another module than R-tree makes the file untrusted, since its module may do anything.
  @Test func anRTreeBesideAnotherVirtualTableIsNotWritten() throws {
    let store = try MigratedStore()
    let model = Self.model()
    try store.fill(model) { _ in }
    try RawDatabase(store.url, trustsSchema: true).connection.executeScript(
      """
      CREATE VIRTUAL TABLE place USING rtree(id, minX, maxX);
      CREATE VIRTUAL TABLE words USING fts5(word);
      CREATE TRIGGER t AFTER INSERT ON ZTHING BEGIN INSERT INTO place VALUES (NEW.Z_PK, 1, 2); END;
      """)
    let error = #expect(throws: GraphError.self) {
      try store.using(model) { context in
        _ = try context.insert("Thing")
        try context.save()
      }
    }
    #expect(
      error?.message.contains("store.sqlite") == true && error?.message.contains("place") == true, "\(error as Any)")
    #expect(try RawDatabase(store.url).rows("SELECT Z_PK FROM ZTHING") == [])
  }

  /// A file with a virtual table that triggers maintain, as other programs have for coordinates, and with additional
  /// indexes.
  @Test func aFileWithAnRTreeAndForeignIndexesIsReadSavedAndMigrated() throws {
    let store = try MigratedStore()
    let model = Self.model()
    try store.fill(model) { context in
      _ = try context.insert("Thing", values: ["score": 1, "ratio": 2, "name": "a", "active": true])
    }
    try RawDatabase(store.url, trustsSchema: true).connection.executeScript(
      """
      CREATE VIRTUAL TABLE Z_Thing_place USING rtree(id, minX, maxX, minY, maxY);
      INSERT INTO Z_Thing_place SELECT Z_PK, ZSCORE, ZSCORE, ZRATIO, ZRATIO FROM ZTHING;
      CREATE TRIGGER Z_RT_INSERT AFTER INSERT ON ZTHING WHEN NEW.ZSCORE NOT NULL BEGIN
        INSERT INTO Z_Thing_place VALUES (NEW.Z_PK, NEW.ZSCORE, NEW.ZSCORE, NEW.ZRATIO, NEW.ZRATIO); END;
      CREATE TRIGGER Z_RT_UPDATE AFTER UPDATE ON ZTHING BEGIN
        UPDATE Z_Thing_place SET minX = NEW.ZSCORE, maxX = NEW.ZSCORE WHERE id = NEW.Z_PK; END;
      CREATE TRIGGER Z_RT_DELETE AFTER DELETE ON ZTHING BEGIN DELETE FROM Z_Thing_place WHERE id = OLD.Z_PK; END;
      CREATE INDEX foreign1 ON ZTHING (lower(ZNAME));
      CREATE INDEX foreign2 ON ZTHING (ZNAME) WHERE ZACTIVE AND ZNAME GLOB 'a*';
      """)
    try store.using(model) { context in
      let thing = try #require(try context.fetch(FetchRequest("Thing")).first)
      try thing.setValue(5, forKey: "score")
      _ = try context.insert("Thing", values: ["score": 7, "ratio": 8, "name": "b"])
      try context.save()
    }
    func places() throws -> [String] {
      try RawDatabase(store.url).rows("SELECT id, minX FROM Z_Thing_place ORDER BY id")
    }
    #expect(try places() == ["1|5.0", "2|7.0"])
    let changed = model.changed { $0[entity: "Thing"].attributes.append(AttributeDescription("more", type: .string)) }
    try store.migrate(to: changed)
    try store.using(changed) { context in
      try context.delete(try #require(try context.fetch(FetchRequest("Thing", where: "name == 'a'")).first))
      try context.save()
    }
    #expect(try places() == ["2|7.0"])
    let raw = try RawDatabase(store.url)
    #expect(
      try raw.rows("SELECT name FROM sqlite_master WHERE name LIKE 'foreign_' ORDER BY 1") == ["foreign1", "foreign2"])
    #expect(try raw.value("PRAGMA integrity_check") == "ok")
  }

  /// No step sorts the rows that the index returns.
  @Test(arguments: [["name", "-whole"], ["-name", "whole"], ["name"], ["-name"]])
  func anIndexOfMixedDirectionsGivesTheOrderTiesAndAll(_ keys: [String]) throws {
    var index = Self.index("byNameDown", of: "name", "whole")
    index.elements[1].isAscending = false
    let people = try PeopleStore(Self.model(index))
    var query = people.query("Thing")
    query.sortDescriptors = keys.map { SortDescriptor(text: $0) }
    let plan = try people.store.plan(query)
    #expect(plan.isComplete)
    let steps = try people.store.steps(of: plan)
    #expect(steps[0] == "SCAN t0 USING INDEX Z_Thing_byNameDown")
    #expect(steps.count == (keys.count == 2 ? 1 : 2), "\(steps)")
  }
}
