import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import Testing

@testable import MoonbaseSQLiteStore

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// The SQL of a predicate, without a store.
@Suite struct PredicateSQLTests {
  private static let cases: [(String, String)] = [
    ("age >= 100 AND age <= 200", "(t0.ZAGE >= ?) AND (t0.ZAGE <= ?)"),
    ("NOT (firstName == 'Ada' OR firstName != 'Bob')", "NOT ((t0.ZFIRSTNAME = ?) OR (t0.ZFIRSTNAME <> ?))"),
    ("firstName == NULL", "t0.ZFIRSTNAME IS NULL"),
    ("NULL != color", "t0.ZCOLOR IS NOT NULL"),
    ("age BETWEEN {1, 2}", "t0.ZAGE BETWEEN ? AND ?"),
    ("age IN {1, 2, 3}", "t0.ZAGE IN (SELECT value FROM json_each(?))"),
    ("age IN {}", "0"),
    ("age IN {1, NULL}", "((t0.ZAGE IN (SELECT value FROM json_each(?))) OR t0.ZAGE IS NULL)"),
    ("age + 1 > 2 * age", "(t0.ZAGE + 1) > (2 * t0.ZAGE)"),
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
    let people = try SQLBench()
    let sql = try people.select(["COUNT(*)"], people.query("Person", try Predicate(format: predicate)))
    let join = predicate.contains("department.") ? " LEFT JOIN ZDEPARTMENT t1 ON t1.Z_PK = t0.ZDEPARTMENT" : ""
    #expect(sql.text == "SELECT COUNT(*) FROM ZPERSON t0\(join) WHERE \(condition)")
  }

  /// The common destinations of pairs are listed once, and each row is looked up in the list. A subquery per row, or a
  /// search among each row's pairs, would be quadratic.
  @Test(arguments: ["ANY tags.es.a > 9", "SUBQUERY(tags, $t, ANY $t.es.a > 9).@count > 0"])
  func whatPairsLeadToIsListedOnce(predicate: String) throws {
    let bench = try SQLBench(
      .sqlite,
      ManagedObjectModel {
        EntityDescription("E") {
          AttributeDescription("a", type: .integer64)
          RelationshipDescription.toMany("tags", destination: "T", inverse: "es")
        }
        EntityDescription("T") { RelationshipDescription.toMany("es", destination: "E", inverse: "tags") }
      })
    let sql = try bench.select(["1"], bench.query("E", try Predicate(format: predicate))).text
    #expect(sql.contains("+t1.Z_PK IN (SELECT pt2.o FROM ZE t2 JOIN (SELECT "), "\(sql)")
  }

  @Test(arguments: [
    "fullName == 'x'", "color == 'x'", "firstName == 1", "firstName IN 'abc'", "age == CAST(firstName, 'NSNumber')",
    "department.employees.@distinctUnionOfObjects.age == 1",
  ])
  func aPredicateIsRefusedWhereItsSQLWouldNotMeanTheSame(text: String) throws {
    let people = try SQLBench()
    let query = try people.query("Person", Predicate(format: text))
    #expect(throws: Untranslatable.self) { try people.select(["1"], query) }
  }

  @Test func aPersonsOrderOfTextsIsRefused() throws {
    let people = try SQLBench()
    var query = people.query("Person")
    query.sortDescriptors = [SortDescriptor("lastName", comparator: .localizedCompare)]
    #expect(throws: Untranslatable.self) { try people.select(["1"], query) }
  }
}
