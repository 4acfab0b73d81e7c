import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Predicates that exceed SQLite's limits, and predicates rewritten to fit.
@Suite struct LargePredicateTests {
  private static func things() throws -> Worlds {
    try Worlds { context in
      var last: ManagedObject?
      let boxes = try (0..<3).map { _ in try context.insert("Box") }
      let marks = try (0..<4).map { rank in
        let mark = try context.insert("Mark")
        try mark.setValue(.int(Int64(rank)), forKey: "rank")
        return mark
      }
      for index in 0..<12 {
        let thing = try context.insert("Thing")
        try thing.setValue(.string("\(index)"), forKey: "name")
        if index != 5 { try thing.setValue(.int(Int64(index)), forKey: "whole") }
        try thing.setValue(.string(["a", "ab", "B", "\u{e9}", "x\0y", "\u{10ffff}"][index % 6]), forKey: "text")
        try thing.setValue(.data(Data([UInt8(index), 0])), forKey: "bytes")
        try thing.setValue(.date(Date(timeIntervalSinceReferenceDate: Double(index) / 3)), forKey: "born")
        try thing.setValue(
          .uuid(UUID(uuid: (UInt8(index), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))), forKey: "key")
        if let last { try thing.setObject(last, forKey: "boss") }
        if index % 4 != 3 { try thing.setObject(boxes[index % 4], forKey: "box") }
        if index % 3 != 0 { try thing.add(marks[index % 4], to: "marks") }
        if index % 5 == 0 { try thing.add(marks[3], to: "marks") }
        last = thing
      }
    }
  }

  /// The text's length is charged once as work, not for every row.
  @Test(arguments: ["CONTAINS", "BEGINSWITH[c]", "ENDSWITH", "LIKE[cd]", "MATCHES"])
  func aLongTextIsPreparedOnceForAStatement(_ comparator: String) throws {
    let people = try PeopleStore()
    let rows = try (0..<200).map { try people.row("Person", ["firstName": .string("name\($0)")]) }
    try people.save { $0.inserted = RowBatch(rows) }
    func units(_ length: Int) throws -> Int {
      let text = String(repeating: "a", count: length)
      let query = people.query("Person", try Predicate(format: "firstName \(comparator) %@", .string(text)))
      var count = -1
      let units = try HostWorkMeter.units { count = try people.store.count(matching: query) }
      #expect(count == 0)
      return units
    }
    let (short, long) = (try units(10), try units(60_000))
    #expect(long - short > 60_000 / 100 && long - short < 3 * 60_000 / 64, "\(short), \(long)")
  }

  @Test func aLongConstantIsFoldedOnceForAllRows() throws {
    let bench = try StoreBench(.memory)
    let context = bench.context()
    for index in 0..<2000 { _ = try context.insert("Person", values: ["firstName": .string("name\(index)")]) }
    try context.save()
    func seconds(_ length: Int) throws -> Double {
      let text = Value.string(String(repeating: "É", count: length))
      let request = FetchRequest(
        "Person",
        where: try Predicate(
          format: "firstName ==[c] %@ OR firstName <[cd] %@ AND firstName IN[c] %@", text, text, .list([text])))
      var found = -1
      let time = try processorSeconds { found = try context.count(request) }
      #expect(found == 0)
      return time
    }
    let (short, long) = (try seconds(5), try seconds(60_000))
    #expect(long < 20 * short + 0.1, "\(short), \(long)")
  }

  @Test func aThousandConditionsRunInSQL() throws {
    let worlds = try Self.things()
    let numbers = (0..<1001).map { "whole == \($0 * 3)" }
    for word in ["OR", "AND NOT"] {
      let predicate = try Predicate.any(numbers.map { try Predicate(format: $0) }, word)
      #expect(try worlds.isInSQL(predicate))
      try worlds.agree(predicate)
      try worlds.agree(.not(predicate))
    }
  }

  @Test func aListIsOneParameterOfWhateverKindAndLength() throws {
    let worlds = try Self.things()
    let many = (0..<100_000).map { Value.int(Int64($0 * 5)) }
    let statements = try worlds.statements {
      #expect(try worlds.agree("whole IN %@", .list(many)) == ["0", "10"])
      try worlds.agree("whole IN %@", .list(Array(many.prefix(3))))
    }
    #expect(Set(statements).count == 1)
    let text = Value.list((0..<1001).map { .string($0 == 500 ? "AB" : "\($0)\"\\\n") } + ["x\0y", "É"])
    #expect(try worlds.agree("text IN %@", text) == ["10", "4"])
    #expect(try worlds.agree("text IN[c] %@", text) == ["1", "10", "3", "4", "7", "9"])
    try worlds.agree("NOT text IN[cd] %@", text)
    try worlds.agree("bytes IN %@", .list([.data(Data([1, 0])), .data(Data())]))
    try worlds.agree("born IN %@", .list((0..<5).map { .date(Date(timeIntervalSinceReferenceDate: Double($0) / 3)) }))
    let key = Value.uuid(UUID(uuid: (7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
    #expect(try worlds.agree("key IN %@", .list([key])) == ["7"])
    try worlds.agree("NOT whole IN {1, 2, NULL} AND NOT whole IN {} AND whole IN {1.0, 3.5, whole}")
  }

  @Test func whatSQLiteTakesLongToPrepareIsDoneInMemory() throws {
    let worlds = try Self.things()
    for word in ["OR", "AND NOT"] {
      let numbers = (0..<3000).map { "whole == \($0 * 3 + 3)" }
      let predicate = try Predicate.any(numbers.map { try Predicate(format: $0) }, word)
      #expect(try !worlds.isInSQL(predicate))
      try worlds.agree(predicate)
    }
  }

  @Test func whatSQLiteRefusesIsDoneInMemoryWithTheSameResult() throws {
    let worlds = try Self.things()
    let joins = (1...63).map { Array(repeating: "boss", count: $0).joined(separator: ".") }
    let tooMany = [joins[62] + ".whole", joins[60] + ".box.name", joins[61] + ".box.name"].map { $0 + " == NULL" }
      .joined(separator: " OR ")
    let predicates = [
      String(repeating: "NOT (", count: 81) + "whole == 3" + String(repeating: ")", count: 81),
      (0..<90).reduce("whole == 3") { inner, index in "NOT (whole != \(index % 7) AND \(inner))" },
      (0..<12).reduce("$v12.whole >= 0") { inner, index in
        "SUBQUERY(\(index == 11 ? "" : "$v\(11 - index).")staff, $v\(12 - index), \(inner)).@count > 0"
      },
      (0..<12).map { "SUBQUERY(staff, $s, $s.whole > \($0)).@count > 0" }.joined(separator: " OR "),
      joins.map { $0 + ".name == NULL" }.joined(separator: " OR "), tooMany,
      "whole > 3 AND (\(tooMany)) AND whole < 9",
    ]
    for text in predicates {
      let predicate = try Predicate(format: text)
      try worlds.agree(predicate, [SortDescriptor("name")])
      try worlds.agree(.not(predicate))
    }
    #expect(try !worlds.isInSQL(Predicate(format: tooMany)))
    // Each of the two conditions runs in SQL, but not both together.
    let far = try Predicate(format: joins[62] + ".whole == NULL")
    #expect(try worlds.isInSQL(far))
    try worlds.agree(
      far, [SortDescriptor(joins[60] + ".box.name"), SortDescriptor("box.name"), SortDescriptor("name")])
  }

  @Test func aStoreThatCannotBeReadIsAnErrorAndNoReasonToLookInMemory() throws {
    let worlds = try Self.things()
    let raw = try RawDatabase(worlds.folder.file("saved.sqlite"))
    try raw.connection.execute("ALTER TABLE ZTHING RENAME COLUMN ZWHOLE TO ZELSE")
    #expect(throws: GraphError.self) { try worlds.isInSQL(Predicate(format: "whole == 1")) }
  }

  // MARK: Quantifiers

  @Test func quantifiersOverDestinationsThatRowsShareAgreeWithMissingOwnersAndValues() throws {
    let worlds = try Self.things()
    let paths = [
      "box.things", "box.things.marks", "marks.things", "marks.things.marks", "boss.marks", "boss.box.things",
    ]
    for path in paths {
      for quantifier in ["ANY", "ALL", "NONE"] {
        for condition in ["> 2", "== NULL", "!= 3", "IN {1, 2}", "BETWEEN {2, 5}", "> whole"] {
          let key = path.hasSuffix("marks") ? "rank" : "whole"
          let text = "\(quantifier) \(path).\(key) \(condition)"
          #expect(try worlds.isInSQL(Predicate(format: text)), "\(text)")
          try worlds.agree(text)
          try worlds.agree("NOT (\(text))")
        }
      }
    }
    try worlds.agree("8 IN box.things.whole")
    try worlds.agree("NOT (box.things.whole CONTAINS 8)")
  }

  @Test func aQuantifierOverWhatRowsShareCostsInProportionToTheRows() throws {
    func seconds(_ count: Int) throws -> Double {
      let folder = try TemporaryFolder()
      let model = try Worlds.description().resolved()
      let store = try SQLiteStore(url: folder.file(), model: model)
      let raw = try RawDatabase(folder.file())
      try raw.connection.execute("INSERT INTO ZBOX (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)")
      try raw.connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) "
          + "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZBOX, ZWHOLE) "
          + "SELECT i, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'), 1, 1, 0 FROM n")
      var query = StoreQuery(entity: model.entity("Thing")!, in: model)
      query.predicate = try Predicate(format: "ANY box.things.whole > 900")
      var found = -1
      let time = try processorSeconds { found = try store.count(matching: query) }
      #expect(found == 0)
      return time
    }
    _ = try seconds(10)
    // Without the index, sixteen times as many rows took two hundred times as long.
    let (few, many) = (try seconds(1000), try seconds(16_000))
    #expect(many < max(few, 0.001) * 60, "\(few), \(many)")
  }

  // MARK: Orders

  @Test(arguments: [62, 63, 64, 65, 500])
  func anOrderOfMoreThan62KeysIsTheContexts(_ count: Int) throws {
    let worlds = try Self.things()
    let boss = (1..<count).map { SortDescriptor("boss.whole", ascending: $0 % 2 == 0) }
    try worlds.agree(.constant(true), boss + [SortDescriptor("name")])
    let sorted = try worlds.statements {
      _ = try worlds.names(worlds.file, Predicate(format: "whole >= 0"), boss + [SortDescriptor("name")])
    }
    #expect(sorted.contains { $0.contains("ORDER BY") } == (count <= 62))
  }

  // MARK: Prefixes

  @Test func aPrefixAgreesWhateverItsLastCharacterIs() throws {
    let texts = [
      "", "a", "ab", "abc", "abd", "abz", "ac", "Ab", "\u{e1}b", "a\u{301}b", "ab\0", "ab\0c", "\0", "\u{d7ff}",
      "\u{d7ff}x", "\u{e000}", "\u{10ffff}", "\u{10ffff}\u{10ffff}", "\u{10ffff}z", "a\u{10ffff}", "a\u{10ffff}b", "b",
      "\u{7f}", "\u{80}", "\u{7ff}", "\u{800}", "\u{ffff}", "\u{10000}", "*", "a*",
    ]
    let worlds = try Worlds("text", texts.map(Value.string) + [.null])
    for text in texts {
      let predicate = try Predicate(format: "text BEGINSWITH %@", .string(text))
      let expected = texts.indices.filter { texts[$0].utf8.starts(with: text.utf8) }.map(String.init).sorted()
      #expect(try worlds.agree(predicate) == expected)
      for option in ["[c]", "[d]", "[cd]", "[n]"] { try worlds.agree("NOT text BEGINSWITH\(option) %@", .string(text)) }
      try worlds.agree("NOT text BEGINSWITH %@ OR text == %@", .string(text), .string(text))
      try worlds.agree("ANY staff.text BEGINSWITH %@", .string(text))
    }
  }

  @Test func aPrefixIsFoundByAnIndex() throws {
    let worlds = try Worlds("text", ["a"])
    let statements = try worlds.statements {
      _ = try worlds.names(worlds.file, Predicate(format: "text BEGINSWITH 'ab'"))
    }
    let raw = try RawDatabase(worlds.folder.file("saved.sqlite"))
    try raw.connection.register(function: "moonbase_begins", arguments: 3, traits: .deterministic) { $0.setNull() }
    let plan = try raw.rows("EXPLAIN QUERY PLAN \(#require(statements.first))").joined(separator: "\n")
    #expect(plan.contains("SEARCH t0 USING INDEX"), "\(plan)")
  }
}

extension Predicate {
  fileprivate static func any(_ parts: [Predicate], _ word: String) throws -> Predicate {
    word == "OR" ? .or(parts) : .and(parts.map { .not($0) })
  }
}
