import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import Testing

@testable import MoonbaseSQLiteStore

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Predicates and sort orders in the dialect of another engine.
@Suite struct SecondDialectTests {
  @Test(arguments: [
    ("age >= 100 AND firstName == 'Ada'", "(t0.ZAGE >= $1) AND (t0.ZFIRSTNAME = $2)"),
    ("age IN {1, 2, 3}", "t0.ZAGE = ANY($1)"),
    ("age IN {1, NULL}", "((t0.ZAGE = ANY($1)) OR t0.ZAGE IS NULL)"),
    ("age IN {}", "FALSE"),
    ("TRUEPREDICATE", "TRUE"),
    ("firstName < 'b'", "t0.ZFIRSTNAME COLLATE \"C\" < $1"),
    ("firstName BETWEEN {'a', 'b'}", "t0.ZFIRSTNAME COLLATE \"C\" BETWEEN $1 AND $2"),
    ("age > 1 + 1", "t0.ZAGE > $1"),
    (
      "ANY friends.age > 3 AND color != NULL",
      "(EXISTS (SELECT 1 FROM ZPERSON t1 WHERE (t1.Z_PK IN (SELECT REFLEXIVE FROM Z_2FRIENDS WHERE Z_2FRIENDS = t0.Z_PK)"
        + " OR t1.Z_PK IN (SELECT Z_2FRIENDS FROM Z_2FRIENDS WHERE REFLEXIVE = t0.Z_PK)) AND (t1.ZAGE > $1)))"
        + " AND (t0.ZCOLOR IS NOT NULL)"
    ),
    (
      "department.employees.@sum.age > 1",
      "(SELECT CASE COUNT(*) WHEN 0 THEN 0 ELSE gt2.v END FROM (SELECT t2.ZDEPARTMENT o, CASE COUNT(t2.ZAGE) WHEN 0 "
        + "THEN 0 ELSE CAST(SUM(t2.ZAGE) AS BIGINT) END v FROM ZPERSON t2 WHERE t2.ZDEPARTMENT IS NOT NULL GROUP BY 1) gt2 "
        + "WHERE gt2.o = t1.Z_PK) > $1"
    ),
  ])
  func aConditionIsSaidInTheOtherEnginesWords(format: String, sql: String) throws {
    #expect(try SQLBench(.postgreSQL).condition(format).text == sql)
  }

  @Test func aRelationshipIsComparedWithAMissingOneInTheOtherEnginesWords() throws {
    let bench = try SQLBench(.postgreSQL)
    let id = Value.objectID(ManagedObjectID(store: bench.store, entity: bench.entity("Department").symbol, key: 3))
    #expect(try bench.condition("department == %@", id).text == "t0.ZDEPARTMENT IS NOT DISTINCT FROM $1")
    #expect(try bench.condition("department != %@", id).text == "t0.ZDEPARTMENT IS DISTINCT FROM $1")
    #expect(
      try bench.condition("department IN %@", .list([id])).text
        == "(t0.ZDEPARTMENT = ANY($1) AND t0.ZDEPARTMENT IS NOT NULL)")
  }

  @Test(arguments: [
    "age + 1 > 3", "firstName LIKE 'a*'", "firstName ==[c] 'a'", "firstName BEGINSWITH 'a'",
    "lowercase(firstName) == 'a'",
  ])
  func whatTheOtherEngineCannotSayIsLeftToTheContextWithAReason(format: String) throws {
    let bench = try SQLBench(.postgreSQL)
    let error = #expect(throws: Untranslatable.self) { try bench.condition(format) }
    #expect(error?.reason.contains("PostgreSQL") == true, "\(error?.reason ?? "")")
    #expect(throws: Never.self) { try SQLBench().condition(format) }
  }

  @Test func missingValuesComeFirstAndAnOffsetNeedsNoLimit() throws {
    let bench = try SQLBench(.postgreSQL)
    var query = bench.query("Person", try Predicate(format: "age > 1"))
    query.sortDescriptors = [SortDescriptor("firstName"), SortDescriptor("age", ascending: false)]
    query.offset = 5
    let start =
      "SELECT t0.Z_PK FROM ZPERSON t0 WHERE t0.ZAGE > $1 "
      + "ORDER BY t0.ZFIRSTNAME COLLATE \"C\" ASC NULLS FIRST, t0.ZAGE DESC NULLS LAST, t0.Z_PK ASC"
    #expect(try bench.select(["t0.Z_PK"], query).text == start + " OFFSET $2")
    query.limit = 3
    #expect(try bench.select(["t0.Z_PK"], query).text == start + " LIMIT $2 OFFSET $3")
  }

  @Test func rowsAreReadAndWrittenInTheOtherEnginesWords() throws {
    let bench = try SQLBench(.postgreSQL)
    let project = bench.entity("Project")
    let rows = try RowSelect(project, includesSubentities: true, layout: bench.layout, dialect: bench.dialect)
    #expect(rows.select(keyCount: 4).hasSuffix("FROM ZPROJECT t0 WHERE t0.Z_PK = ANY($1)"))
    #expect(rows.pointSelect.hasSuffix("FROM ZPROJECT t0 WHERE t0.Z_PK = $1"))
    let writing = try RowStatements(bench.layout.layout(project), dialect: bench.dialect)
    #expect(
      writing.insertion == "INSERT INTO ZPROJECT (Z_PK, Z_ENT, Z_OPT, ZDEPARTMENT, ZTITLE) VALUES ($1, $2, $3, $4, $5)"
        || writing.insertion.hasSuffix("VALUES ($1, $2, $3, $4, $5)"))
    #expect(writing.insertion(2).hasSuffix(" VALUES ($1, $2, $3, $4, $5), ($6, $7, $8, $9, $10)"))
    #expect(writing.insertionSize == 13_107)
    let stepped = try RowStatements(bench.layout.layout(project), dialect: .sqlite)
    #expect(stepped.insertionSize == 1 && stepped.insertion == stepped.insertion(1))
    let slot = try #require(project.slot("title"))
    #expect(
      writing.update([slot], checksVersion: true)
        == "UPDATE ZPROJECT SET ZTITLE = $1, Z_OPT = $2 WHERE Z_PK = $3 AND COALESCE(Z_OPT, 0) = $4")
    #expect(writing.deletion(checksVersion: false) == "DELETE FROM ZPROJECT WHERE Z_PK = $1")
    let pairs = PairStatements(try #require(bench.layout.joins.first), dialect: bench.dialect)
    #expect(
      pairs.insertion(2)
        == "INSERT INTO Z_2FRIENDS (Z_2FRIENDS, REFLEXIVE) VALUES ($1, $2), ($3, $4) ON CONFLICT (Z_2FRIENDS, REFLEXIVE) "
        + "DO NOTHING")
    #expect(
      ReferenceStatements(bench.dialect).missing(from: "ZPERSON")
        == "SELECT value FROM unnest($1) AS keys (value) WHERE NOT EXISTS (SELECT 1 FROM ZPERSON WHERE Z_PK = value)")
    #expect(
      ReferenceStatements(bench.dialect).destinations(by: "ZMATE", of: "ZA", in: "ZB", notLeadingBackBy: "ZBACK")
        == "SELECT s.Z_PK, o.Z_PK, o.Z_ENT FROM ZA s JOIN ZB o ON o.Z_PK = s.ZMATE WHERE s.Z_PK = ANY($1) "
        + "AND o.ZBACK IS DISTINCT FROM s.Z_PK")
  }

  @Test func aQuestionMarkWithinANameIsNoParameter() {
    #expect(
      Dialect.postgreSQL.statement("SELECT \"a?\" FROM t WHERE b = '?' AND c = ?")
        == "SELECT \"a?\" FROM t WHERE b = '?' AND c = $1")
    #expect(Dialect.sqlite.statement("SELECT ?") == "SELECT ?")
  }
}
