import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// The SQL of a predicate.
@Suite struct SQLTextTests {
  private static let cases: [(String, String)] = [
    ("age >= 100 AND age <= 200", "(t0.ZAGE >= ?) AND (t0.ZAGE <= ?)"),
    ("NOT (firstName == 'Ada' OR firstName != 'Bob')", "NOT ((t0.ZFIRSTNAME = ?) OR (t0.ZFIRSTNAME <> ?))"),
    ("firstName == NULL", "t0.ZFIRSTNAME IS NULL"),
    ("NULL != color", "t0.ZCOLOR IS NOT NULL"),
    ("age BETWEEN {1, 2}", "t0.ZAGE BETWEEN ? AND ?"),
    ("age IN {1, 2, 3}", "t0.ZAGE IN (SELECT value FROM json_each(?))"),
    ("age IN {}", "0"),
    ("age IN {1, NULL}", "((t0.ZAGE IN (SELECT value FROM json_each(?))) OR t0.ZAGE IS NULL)"),
    ("age + 1 > 2 * age", "(t0.ZAGE + ?) > (? * t0.ZAGE)"),
    (
      "ANY department.employees.firstName == firstName",
      "EXISTS (SELECT 1 FROM ZPERSON t2 WHERE t2.ZDEPARTMENT = t1.Z_PK AND (t2.ZFIRSTNAME = t0.ZFIRSTNAME))"
    ),
    ("NOT NOT NOT age == 1", "NOT (t0.ZAGE = ?)"),
    ("firstName IN[c] {'A', 'b'}", "moonbase_fold(1, t0.ZFIRSTNAME) IN (SELECT value FROM json_each(?))"),
    (
      "firstName BEGINSWITH 'a'",
      "t0.ZFIRSTNAME >= ? AND t0.ZFIRSTNAME < ? AND moonbase_begins(0, t0.ZFIRSTNAME, ?)"
    ),
    ("firstName BEGINSWITH[cd] 'a'", "moonbase_begins(3, t0.ZFIRSTNAME, ?)"),
    ("firstName ==[c] 'a'", "moonbase_fold(1, t0.ZFIRSTNAME) = moonbase_fold(1, ?)"),
    ("department == NULL", "t0.ZDEPARTMENT IS NULL"),
    (
      "friends.@count > 1",
      "(SELECT COUNT(*) FROM ZPERSON t1 WHERE "
        + "(t1.Z_PK IN (SELECT REFLEXIVE FROM Z_2FRIENDS WHERE Z_2FRIENDS = t0.Z_PK) OR "
        + "t1.Z_PK IN (SELECT Z_2FRIENDS FROM Z_2FRIENDS WHERE REFLEXIVE = t0.Z_PK))) > ?"
    ),
    (
      "ANY department.employees.age > 1",
      "(t1.Z_PK IN (SELECT t2.ZDEPARTMENT FROM ZPERSON t2 WHERE t2.ZDEPARTMENT IS NOT NULL AND (t2.ZAGE > ?)) "
        + "AND t1.Z_PK IS NOT NULL)"
    ),
    (
      "ALL department.projects.title == 'x'",
      "NOT (t1.Z_PK IN (SELECT t2.ZDEPARTMENT FROM ZPROJECT t2 WHERE t2.ZDEPARTMENT IS NOT NULL AND "
        + "((t2.ZTITLE = ?) IS NOT TRUE)) AND t1.Z_PK IS NOT NULL)"
    ),
    (
      "SUBQUERY(department.projects, $p, $p.title == firstName).@count > 0",
      "(SELECT COUNT(*) FROM ZPROJECT t2 WHERE "
        + "t2.ZDEPARTMENT = t1.Z_PK AND (t2.ZTITLE = t0.ZFIRSTNAME)) > ?"
    ),
    (
      "department.employees.@count > 1",
      "(SELECT CASE COUNT(*) WHEN 0 THEN 0 ELSE gt2.v END FROM (SELECT t2.ZDEPARTMENT o, COUNT(*) v FROM ZPERSON t2 "
        + "WHERE t2.ZDEPARTMENT IS NOT NULL GROUP BY 1) gt2 WHERE gt2.o = t1.Z_PK) > ?"
    ),
    (
      "department.employees.@max.age > 1",
      "(SELECT gt2.v FROM (SELECT t2.ZDEPARTMENT o, MAX(t2.ZAGE) v FROM ZPERSON t2 "
        + "WHERE t2.ZDEPARTMENT IS NOT NULL GROUP BY 1) gt2 WHERE gt2.o = t1.Z_PK) > ?"
    ),
    (
      "SUBQUERY(department.projects, $p, $p.title == 'x').@count > 0",
      "(SELECT CASE COUNT(*) WHEN 0 THEN 0 ELSE gt2.v END FROM (SELECT t2.ZDEPARTMENT o, COUNT(*) v FROM ZPROJECT t2 "
        + "WHERE t2.ZDEPARTMENT IS NOT NULL AND (t2.ZTITLE = ?) GROUP BY 1) gt2 WHERE gt2.o = t1.Z_PK) > ?"
    ),
    (
      "email == 'a' AND ANY department.employees.age > 1",
      "(t0.ZEMAIL = ?) AND (EXISTS (SELECT 1 FROM ZPERSON t2 WHERE t2.ZDEPARTMENT = t1.Z_PK AND (t2.ZAGE > ?)))"
    ),
    (
      "email == 'a' AND department.employees.@count > 1",
      "(t0.ZEMAIL = ?) AND ((SELECT COUNT(*) FROM ZPERSON t2 WHERE t2.ZDEPARTMENT = t1.Z_PK) > ?)"
    ),
    ("TRUEPREDICATE", "1"),
  ]

  @Test(arguments: cases)
  func theSQLIsWhatAPersonWouldWrite(predicate: String, condition: String) throws {
    let people = try PeopleStore()
    let query = people.query("Person", try Predicate(format: predicate))
    #expect(try people.store.canEvaluate(#require(query.predicate), for: people.query("Person")))
    let log = try people.statements { _ = try people.store.count(matching: query) }
    let join = predicate.contains("department.") ? " LEFT JOIN ZDEPARTMENT t1 ON t1.Z_PK = t0.ZDEPARTMENT" : ""
    #expect(log == ["SELECT COUNT(*) FROM ZPERSON t0\(join) WHERE \(condition)"])
  }

  @Test(arguments: [
    "fullName == 'x'", "color == 'x'", "firstName == 1", "firstName IN 'abc'", "age == CAST(firstName, 'NSNumber')",
    "department.employees.@distinctUnionOfObjects.age == 1",
  ])
  func aPredicateIsRefusedWhereItsSQLWouldNotMeanTheSame(text: String) throws {
    let people = try PeopleStore()
    #expect(try !people.store.canEvaluate(Predicate(format: text), for: people.query("Person")))
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
        "SELECT t0.Z_PK, t0.Z_ENT FROM ZPERSON t0 LEFT JOIN ZDEPARTMENT t1 ON t1.Z_PK = t0.ZDEPARTMENT "
          + "WHERE t0.Z_ENT = 2 AND (t1.ZNAME = ?) ORDER BY t1.ZNAME ASC, t0.ZAGE DESC LIMIT ? OFFSET ?"
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
