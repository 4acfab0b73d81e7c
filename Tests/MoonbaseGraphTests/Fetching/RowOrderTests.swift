import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression
import struct MoonbaseModel.SortDescriptor

/// Grouped dictionary results are sorted by their columns and functions.
@Suite struct RowOrderTests {
  private func context(_ kind: StoreKind) throws -> (StoreBench, ManagedObjectContext) {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for number in 0..<60 {
      let values: [String: Value] = ["age": .int(Int64(number * 7 % 31)), "firstName": .string("n\(number % 6)")]
      _ = try context.insert("Person", values: values)
    }
    try context.save()
    return (bench, context)
  }

  private func request(_ columns: [(String, String)], sort: [String]) throws -> FetchRequest {
    var request = FetchRequest("Person")
    request.resultType = .dictionaries
    request.propertiesToFetch = try columns.map { FetchColumn($0, expression: try Expression(format: $1)) }
    request.propertiesToGroupBy = ["firstName"]
    request.sortDescriptors = sort.map(SortDescriptor.init(text:))
    return request
  }

  private let columns = [("firstName", "firstName"), ("total", "@sum.age"), ("n", "@count")]

  private func order(_ rows: [[String: Value]]) -> [Value] { rows.map { $0["firstName"] ?? .null } }

  @Test(arguments: StoreKind.allCases) func byAColumnThatIsComputed(_ kind: StoreKind) throws {
    let (bench, context) = try context(kind)
    let plain = try context.fetchDictionaries(request(columns, sort: ["firstName"]))
    let wanted = plain.sorted {
      ($0["total"]?.asDouble ?? 0, "\($1["firstName"] ?? .null)") > (
        $1["total"]?.asDouble ?? 0, "\($0["firstName"] ?? .null)"
      )
    }
    let found = try context.fetchDictionaries(request(columns, sort: ["-total", "firstName"]))
    #expect(found == wanted)
    #expect(order(found) != order(plain))
    withExtendedLifetime(bench) {}
  }

  /// The sort key need not be a column, and the window applies to the sorted rows.
  @Test(arguments: StoreKind.allCases) func byAFunctionThatNoColumnShows(_ kind: StoreKind) throws {
    let (bench, context) = try context(kind)
    let whole = try context.fetchDictionaries(request(columns, sort: ["-total", "firstName"]))
    var hidden = try request([("firstName", "firstName")], sort: ["-@sum.age", "firstName"])
    #expect(try order(context.fetchDictionaries(hidden)) == order(whole))
    #expect(try context.fetchDictionaries(hidden).allSatisfy { $0.count == 1 })
    (hidden.fetchOffset, hidden.fetchLimit) = (1, 2)
    #expect(try order(context.fetchDictionaries(hidden)) == Array(order(whole)[1...2]))
    hidden.havingPredicate = try Predicate(format: "@sum.age > 0 AND firstName != 'n1'")
    (hidden.fetchOffset, hidden.fetchLimit) = (0, 3)
    #expect(
      try order(context.fetchDictionaries(hidden)) == Array(order(whole).filter { $0 != .string("n1") }.prefix(3)))
    #expect(try context.explain(hidden).contains("the context sorts the rows"))
    withExtendedLifetime(bench) {}
  }

  @Test func aKeyThatIsNoneOfThemSaysSo() throws {
    let (_, context) = try context(.memory)
    let error = #expect(throws: (any Error).self) {
      try context.fetchDictionaries(request(columns, sort: ["-total", "age"]))
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains("age is none of these"))
    #expect(throws: (any Error).self) { try context.fetchDictionaries(request(columns, sort: ["@sum.oops"])) }
  }
}
