import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Dictionary results come from the store as values if the values are stored unchanged.
@Suite struct ColumnTests {
  private func bench(_ kind: StoreKind) throws -> StoreBench {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let departments = try ["a", "b"].map { try context.insert("Department", values: ["name": .string($0)]) }
    for number in 0..<700 {
      let person = try context.insert(
        number % 3 == 0 ? "Employee" : "Person",
        values: ["age": .int(Int64(number % 90)), "firstName": .string("n\(number % 7)")])
      if number % 5 > 0 { try person.setObject(departments[number % 2], forKey: "department") }
    }
    try context.save()
    return bench
  }

  private func request(
    _ columns: [(String, String)], by keys: [String] = [], _ change: (inout FetchRequest) -> Void = { _ in }
  ) throws -> FetchRequest {
    var request = FetchRequest("Person")
    request.resultType = .dictionaries
    request.propertiesToFetch = try columns.map { FetchColumn($0, expression: try Expression(format: $1)) }
    request.propertiesToGroupBy = keys
    change(&request)
    return request
  }

  @Test(arguments: StoreKind.withFolder) func valuesAreReadWithoutObjects(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let made = Lock(0)
    let context = bench.context { entry in entry.awakeFromFetch = { _ in made.withLock { $0 += 1 } } }
    let requests = [
      try request([("age", "age"), ("name", "firstName")]),
      try request([("n", "@count"), ("sum", "@sum.age"), ("mean", "@avg.age"), ("spread", "@max.age - @min.age")]),
      try request([("name", "firstName"), ("n", "@count"), ("next", "@max.age")], by: ["firstName"]),
    ]
    for request in requests { #expect(try !context.fetchDictionaries(request).isEmpty) }
    #expect(made.withLock { $0 } == 0)
    // The context evaluates an expression over an object's values.
    #expect(try context.fetchDictionaries(request([("n", "fullName")])).count == 700)
    #expect(made.withLock { $0 } > 0)
  }

  @Test func keyPathsThatAreWrittenOutAreColumns() throws {
    var request = FetchRequest("Person")
    request.propertiesToFetch = ["age", "department.name", FetchColumn("n", expression: .keyPath("firstName"))]
    #expect(request.propertiesToFetch.map(\.name) == ["age", "department.name", "n"])
    #expect(request.propertiesToFetch[1] == FetchColumn("department.name"))
  }

  /// Store and context compute the same; an equivalent expression forces the context to compute.
  @Test(arguments: StoreKind.withFolder) func storesComputeWhatTheContextWould(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let sort = [SortDescriptor("firstName", ascending: false)]
    let functions = [
      ("n", "@count"), ("c", "@count.age"), ("s", "@sum.age"), ("a", "@avg.age"), ("m", "@max.firstName"),
    ]
    let shapes: [([(String, String)], [String])] = [
      ([("age", "age"), ("name", "firstName"), ("d", "department.name")], []), (functions, []),
      ([("firstName", "firstName")] + functions, ["firstName"]),
      ([("department.name", "department.name")] + functions, ["department.name", "firstName"]),
    ]
    for (columns, keys) in shapes {
      for predicate in ["age >= 0", "age < 40 AND department.name == 'a'", "age > 1000"] {
        for (sorts, limit, offset) in [([], 0, 0), (sort, 0, 0), ([], 5, 2), (sort, 3, 1)] {
          let stored = try request(columns, by: keys) {
            $0.predicate = try? Predicate(format: predicate)
            ($0.sortDescriptors, $0.fetchLimit, $0.fetchOffset) = (sorts, limit, offset)
          }
          var judged = stored
          judged.predicate = try Predicate(format: predicate + " AND fullName == NULL")
          let context = bench.context()
          #expect(try context.fetchDictionaries(stored) == context.fetchDictionaries(judged), "\(columns) \(predicate)")
        }
      }
    }
  }

  @Test func anExplanationSaysWhoComputes() throws {
    let (file, memory) = (try bench(.sqlite), try bench(.memory))
    let context = file.context()
    func lines(_ request: FetchRequest) throws -> [Substring] { try context.explain(request).split(separator: "\n") }
    let groups = try request([("name", "firstName"), ("n", "@count"), ("sum", "@sum.age")], by: ["firstName"]) {
      $0.predicate = try? Predicate(format: "age > 3")
      $0.havingPredicate = try? Predicate(format: "n > 3")
    }
    let sum =
      "CASE WHEN TYPEOF(SUM(t0.ZAGE)) = 'real' THEN moonbase_no_number('Person.age') ELSE COALESCE(SUM(t0.ZAGE), 0) END"
    #expect(
      try lines(groups) == [
        "the store: SELECT t0.ZFIRSTNAME, COUNT(*), \(sum) FROM ZPERSON t0 WHERE t0.ZAGE > ? "
          + "GROUP BY t0.ZFIRSTNAME HAVING COUNT(*) > ? ORDER BY MIN(t0.Z_PK)",
        "  SCAN t0", "  USE TEMP B-TREE FOR GROUP BY", "  USE TEMP B-TREE FOR ORDER BY",
      ])
    let reasons = [
      (try request([("n", "fullName")]), "fullName is not kept in the store"),
      (try request([("n", "@sum.age"), ("age", "age")]), "age is a value of single objects beside functions over all"),
      (try request([("n", "median:(age)")]), "median: is a function of the context"),
      (
        try request([("age", "age")]) { $0.predicate = try? Predicate(format: "fullName == 'x'") },
        "only it knows which rows match, in their order"
      ),
      (
        try request([("n", "firstName"), ("c", "@count")], by: ["firstName"]) {
          $0.sortDescriptors = [SortDescriptor("age")]
        },
        "the order goes by age, which is no key of the groups"
      ),
    ]
    for (request, reason) in reasons {
      #expect(try lines(request).contains { $0 == "the context computes the columns: \(reason)" }, "\(reason)")
    }
    #expect(
      try memory.context().explain(request([("d", "department.name")]))
        .hasSuffix("\nthe context computes the columns: department.name leads to other rows"))
  }
}
