import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// The store removes dictionary results that fail `having`, and duplicates, where it can.
@Suite struct RowChoiceTests {
  private static let functions = [
    ("n", "@count"), ("c", "@count.age"), ("s", "@sum.age"), ("a", "@avg.age"), ("m", "@max.firstName"),
  ]

  private func bench(_ kind: StoreKind) throws -> StoreBench {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let departments = try ["a", "b"].map { try context.insert("Department", values: ["name": .string($0)]) }
    for number in 0..<120 {
      let name: Value = number % 11 == 0 ? .null : .string("n\(number % 7)")
      let person = try context.insert("Person", values: ["age": .int(Int64(number * number % 90)), "firstName": name])
      if number % 5 > 0 { try person.setObject(departments[number % 2], forKey: "department") }
    }
    try context.save()
    return bench
  }

  private func request(
    _ columns: [(String, String)], by keys: [String] = [], having: String? = nil,
    _ change: (inout FetchRequest) -> Void = { _ in }
  ) throws -> FetchRequest {
    var request = FetchRequest("Person")
    request.resultType = .dictionaries
    request.propertiesToFetch = try columns.map { FetchColumn($0, expression: try Expression(format: $1)) }
    request.propertiesToGroupBy = keys
    request.havingPredicate = try having.map { try Predicate(format: $0) }
    change(&request)
    return request
  }

  /// Compares with the same request and a condition that no store evaluates, so that the context does all the work.
  private func check(_ stored: FetchRequest, in context: ManagedObjectContext, _ comment: String) throws {
    var judged = stored
    judged.predicate = try Predicate(format: "fullName == NULL")
    #expect(try context.fetchDictionaries(stored) == context.fetchDictionaries(judged), "\(comment)")
  }

  @Test(arguments: StoreKind.withFolder) func havingMeansTheSameInAStore(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let conditions = [
      "n > 14", "a >= 40.5 AND firstName != 'n3'", "m == 'n5' OR s < 700", "firstName BEGINSWITH[c] 'N'",
      "n IN {14, 15}", "NOT (firstName == 'n1')", "firstName == NULL", "firstName != NULL", "n > c", "n = c",
      "s BETWEEN {100, 700}", "sum:(age) > 600", "@max.age - @min.age > 80", "m < 'n4'", "TERNARY(n > 14, 1, 0) == 1",
      "a / 2 > 20",
      "TRUEPREDICATE", "FALSEPREDICATE", "@avg.age > 41 AND NOT (n IN {13} OR s > 650)", "n > 14.5",
    ]
    for keys in [["firstName"], ["department.name", "firstName"]] {
      for having in conditions {
        for (limit, offset) in [(0, 0), (2, 1)] {
          let columns = Self.functions + [("firstName", "firstName")]
          let request = try request(columns, by: keys, having: having) {
            ($0.fetchLimit, $0.fetchOffset) = (limit, offset)
            if limit > 0 { $0.sortDescriptors = [SortDescriptor("firstName", ascending: false)] }
          }
          try check(request, in: context, having)
        }
      }
    }
    try check(request(Self.functions, having: "n > 3"), in: context, "one row")
    try check(request([("x", "firstName")], having: "x == 'n1'"), in: context, "rows of objects")
  }

  @Test(arguments: StoreKind.withFolder) func equalRowsComeOnceWhereTheFirstOfThemWould(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let shapes: [([(String, String)], [String])] = [
      ([("name", "firstName")], []), ([("name", "firstName"), ("d", "department.name")], []),
      ([("n", "@count")], ["firstName"]), ([("n", "@count"), ("f", "firstName")], ["firstName"]), (Self.functions, []),
    ]
    for (columns, keys) in shapes {
      for sort in [[], [SortDescriptor("firstName", ascending: false)], [SortDescriptor("age")]] {
        for (limit, offset) in [(0, 0), (3, 1), (0, 2)] {
          let request = try request(columns, by: keys) {
            $0.returnsDistinctResults = true
            ($0.sortDescriptors, $0.fetchLimit, $0.fetchOffset) = (sort, limit, offset)
          }
          try check(request, in: context, "\(columns) \(keys) \(sort)")
        }
      }
    }
  }

  @Test func anExplanationSaysWhoLeavesRowsOut() throws {
    let bench = try bench(.sqlite)
    let context = bench.context()
    func lines(_ request: FetchRequest) throws -> [String] {
      try context.explain(request).split(separator: "\n").map(String.init)
    }
    let having = try lines(
      request([("name", "firstName"), ("n", "@count")], by: ["firstName"], having: "n > 3 AND @max.age < 90"))
    #expect(
      having[0]
        == "the store: SELECT t0.ZFIRSTNAME, COUNT(*), MAX(t0.ZAGE) FROM ZPERSON t0 GROUP BY t0.ZFIRSTNAME "
        + "HAVING (COUNT(*) > ?) AND (MAX(t0.ZAGE) < ?) ORDER BY MIN(t0.Z_PK)")
    #expect(having.allSatisfy { !$0.hasPrefix("the context") })
    let distinct = try lines(
      request([("name", "firstName"), ("d", "department.name")]) {
        ($0.returnsDistinctResults, $0.fetchLimit) = (true, 5)
        $0.sortDescriptors = [SortDescriptor("firstName")]
      })
    #expect(
      distinct[0]
        == "the store: SELECT t0.ZFIRSTNAME, t1.ZNAME FROM ZPERSON t0 LEFT JOIN ZDEPARTMENT t1 ON t1.Z_PK = t0.ZDEPARTMENT "
        + "GROUP BY t0.ZFIRSTNAME, t1.ZNAME ORDER BY t0.ZFIRSTNAME ASC, MIN(t0.Z_PK) LIMIT ? OFFSET ?", "\(distinct)")
    #expect(distinct.allSatisfy { !$0.hasPrefix("the context") })
    let judged = "the context judges the rows by having: "
    let left = "the context leaves out rows that are there already: "
    let reasons = [
      (try request([("n", "@count")], having: "n > 3"), judged + "a store judges groups only"),
      (
        try request([("n", "@count + 1")], by: ["firstName"], having: "n > 3"), judged + "n is computed by the context"
      ),
      (
        try request([("n", "@count")], by: ["firstName"], having: "TERNARY(n > 3, 1, 0) == 1"),
        judged + "a part of it is judged in memory only"
      ),
      (
        try request([("n", "@count")], by: ["firstName"]) { $0.returnsDistinctResults = true },
        left + "the columns do not show what makes the groups"
      ),
      (
        try request([("f", "firstName")]) { ($0.returnsDistinctResults, $0.fetchLimit) = (true, 2) },
        left + "it ends at the limit"
      ),
      (
        try request([("f", "firstName")]) {
          ($0.returnsDistinctResults, $0.sortDescriptors) = (true, [SortDescriptor("age")])
        }, left + "the order goes by age, which is none of the columns"
      ),
    ]
    for (request, reason) in reasons { #expect(try lines(request).last == reason) }
  }
}
