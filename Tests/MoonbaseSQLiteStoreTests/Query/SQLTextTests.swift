import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// The statements of fetches.
@Suite struct SQLTextTests {
  @Test func aStoreEvaluatesWhatHasTheSameMeaningInSQL() throws {
    let people = try PeopleStore()
    let query = people.query("Person", try Predicate(format: "age >= 100 AND firstName BEGINSWITH 'a'"))
    #expect(try people.store.canEvaluate(#require(query.predicate), for: people.query("Person")))
    #expect(try !people.store.canEvaluate(Predicate(format: "fullName == 'x'"), for: people.query("Person")))
    let log = try people.statements { _ = try people.store.count(matching: query) }
    #expect(
      log == [
        "SELECT COUNT(*) FROM ZPERSON t0 WHERE (t0.ZAGE >= ?) AND "
          + "(t0.ZFIRSTNAME >= ? AND t0.ZFIRSTNAME < ? AND moonbase_begins(0, t0.ZFIRSTNAME, ?))"
      ])
  }

  @Test func conditionsThatSQLCannotSayAreLeftOneByOneWithTheirReasons() throws {
    let people = try PeopleStore()
    var query = people.query("Person", try Predicate(format: "age > 1 AND fullName == 'x' AND email != NULL"))
    query.sortDescriptors = [SortDescriptor("age")]
    query.limit = 3
    let plan = try people.store.plan(query)
    #expect(plan.query.predicate == (try Predicate(format: "age > 1 AND email != NULL")))
    #expect(plan.query.limit == 0 && plan.query.sortDescriptors.isEmpty && !plan.isExact)
    #expect(plan.remainingConditions.map(\.predicate) == [try Predicate(format: "fullName == 'x'")])
    #expect(plan.remainingConditions.map(\.reason) == ["fullName is computed by the context"])
    #expect(plan.remainingOrder == query.sortDescriptors)
    #expect(try people.statements { _ = try people.store.plan(query) } == [])
    // The store runs the planned statement.
    let log = try people.statements { _ = try people.store.snapshots(matching: plan.query) }
    #expect(log == [plan.accessPath])
    let error = #expect(throws: GraphError.self) { try people.store.snapshots(matching: query) }
    #expect(error?.message.contains("fullName is computed by the context") == true)
  }

  @Test func conditionsThatAreTooManyForOneStatementAreTakenOverInPart() throws {
    let people = try PeopleStore()
    let conditions = try (0..<3000).map { try Predicate(format: "age != \($0)") }
    let plan = try people.store.plan(people.query("Person", .and(conditions)))
    let left = plan.remainingConditions.count
    #expect((501...1500).contains(left), "\(left)")
    #expect(plan.query.conditions.count == 3000 - left)
    #expect(plan.remainingConditions[0].reason.hasPrefix("with the others it is too much: SQLite refuses it"))
  }

  @Test func aFetchSelectsAllColumnsOnceFiltersSubentitiesSortsAndLimits() throws {
    let people = try PeopleStore()
    var query = people.query("Person", try Predicate(format: "department.name == 'x'"), subentities: false)
    query.sortDescriptors = [SortDescriptor("department.name"), SortDescriptor("age", ascending: false)]
    query.limit = 10
    query.offset = 5
    #expect(try query.sortDescriptors.allSatisfy { try people.store.canSort(by: $0, for: query) })
    #expect(try !people.store.canSort(by: SortDescriptor("lastName", comparator: .localizedCompare), for: query))
    let log = try people.statements { _ = try people.store.objectIDs(matching: query) }
    #expect(
      log == [
        "SELECT t0.Z_PK FROM ZPERSON t0 LEFT JOIN ZDEPARTMENT t1 ON t1.Z_PK = t0.ZDEPARTMENT "
          + "WHERE t0.Z_ENT = 2 AND (t1.ZNAME = ?) ORDER BY t1.ZNAME ASC, t0.ZAGE DESC, t0.Z_PK ASC LIMIT ? OFFSET ?"
      ])
  }

  @Test func anOwnerThatOneRowLeadsToIsAskedForByItself() throws {
    let people = try PeopleStore()
    let ada = Value.objectID(try people.insert(people.row("Person"))[0])
    for (text, argument) in [("SELF == %@", ada), ("%@ == SELF", ada), ("SELF IN %@", .list([ada]))] {
      let predicate = try Predicate(format: text + " AND ALL department.employees.age > 1", argument)
      let query = people.query("Person", predicate)
      let log = try people.statements { _ = try people.store.count(matching: query) }
      #expect(
        log[0].hasSuffix(
          "(NOT EXISTS (SELECT 1 FROM ZPERSON t2 WHERE t2.ZDEPARTMENT = t1.Z_PK AND ((t2.ZAGE > ?) IS NOT TRUE)))"),
        "\(log)")
    }
  }

  @Test func aComparisonWithTheIDOfAnObjectFindsRowsByTheirKey() throws {
    let people = try PeopleStore()
    let department = try people.row("Department")
    let ada = try people.row("Person", ["department": .objectID(department.id)])
    let bob = try people.row("Employee")
    try people.insert(department, ada, bob)
    let found = { (text: String, ids: [ManagedObjectID]) in
      try people.store.objectIDs(
        matching: people.query("Person", try Predicate(format: text, .list(ids.map(Value.objectID)))))
    }
    #expect(try found("SELF IN %@", [ada.id]) == [ada.id])
    #expect(try found("department IN %@", [department.id]) == [ada.id])
    #expect(try found("NOT department IN %@", [department.id]) == [bob.id])
    let differs = try Predicate(format: "department != %@", .objectID(department.id))
    #expect(try people.store.objectIDs(matching: people.query("Person", differs)) == [bob.id])
  }
}

/// Regular expressions in SQL.
@Suite struct SQLRegularExpressionTests {
  @Test func aRegularExpressionThatTakesTooManyStepsEndsTheFetchWithItsError() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person", ["firstName": .string(String(repeating: "a", count: 40) + "!")]))
    let query = people.query("Person", try Predicate(format: "firstName MATCHES '(a+)+$'"))
    let error = #expect(throws: (any Error).self) { _ = try people.store.snapshots(matching: query) }
    #expect("\(error as Any)".contains("needs too many steps"), "\(error as Any)")
  }
}
