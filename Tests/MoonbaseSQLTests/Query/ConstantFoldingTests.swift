import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import Testing

/// Parts that are equal for every row are values in SQL.
@Suite struct ConstantFoldingTests {
  @Test(arguments: [
    ("age > CAST('7', 'NSNumber')", "t0.ZAGE > ?", Value.int(7)),
    ("age > 2 + 3 * 4", "t0.ZAGE > ?", .int(14)),
    ("firstName == uppercase('ada')", "t0.ZFIRSTNAME = ?", .string("ADA")),
    ("firstName == FUNCTION('a', 'stringByAppendingString:', 'b')", "t0.ZFIRSTNAME = ?", .string("ab")),
    ("age == max({3, 9, 4})", "t0.ZAGE = ?", .int(9)),
    ("age == FUNCTION('ada', 'length')", "t0.ZAGE = ?", .int(3)),
  ])
  func anExpressionWithoutPropertiesIsOneParameter(format: String, sql: String, value: Value) throws {
    let condition = try SQLBench().condition(format)
    #expect(condition.text == sql)
    #expect(condition.values.count == 1 && condition.values[0].isSame(as: value), "\(condition.values)")
  }

  @Test func theTimeOfTheFetchIsOneParameter() throws {
    let before = Date()
    let condition = try SQLBench().condition("born < now()")
    #expect(condition.text == "t0.ZBORN < ?")
    guard case .date(let date) = condition.values[0] else { return #expect(Bool(false), "\(condition)") }
    #expect(date >= before && date <= Date())
  }

  @Test(arguments: ["age > random(5)", "age > CAST('x', 'NSNumber')", "age > CAST(NULL, 'NSNumber')"])
  func whatHasNoValueOrAnotherOneEachTimeIsLeftToTheContext(format: String) throws {
    let bench = try SQLBench()
    #expect(throws: Untranslatable.self) { try bench.condition(format) }
  }

  @Test func theIDOfAnObjectIsItsKey() throws {
    let bench = try SQLBench()
    let id = Value.objectID(ManagedObjectID(store: bench.store, entity: bench.entity("Person").symbol, key: 7))
    #expect(try bench.condition("objectID == %@", id).text == "t0.Z_PK = ?")
    #expect(try bench.condition("objectID IN %@", .list([id])).text == "t0.Z_PK IN (SELECT value FROM json_each(?))")
    let department = Value.objectID(
      ManagedObjectID(store: bench.store, entity: bench.entity("Department").symbol, key: 3))
    #expect(try bench.condition("department.objectID == %@", department).text == "t0.ZDEPARTMENT IS ?")
    #expect(try bench.condition("ANY friends.objectID == %@", id).text.contains("t1.Z_PK = ?"))
  }

  @Test func aLongChainOfAlternativesIsATree() throws {
    let chain = (0..<1000).map { "age == \($0)" }.joined(separator: " OR ")
    let text = try SQLBench().condition(chain).text
    var (depth, deepest) = (0, 0)
    for character in text {
      if character == "(" { depth += 1 } else if character == ")" { depth -= 1 }
      deepest = max(deepest, depth)
    }
    #expect(text.split(separator: " ").count { $0 == "OR" } == 999)
    #expect(deepest == 2 && depth == 0)
  }
}
