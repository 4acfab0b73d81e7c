import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// The sum of decimals is a decimal, even without addends, however the sum is requested.
@Suite struct SumOfNothingTests {
  private static func model() -> ManagedObjectModel {
    var order = EntityDescription("Order")
    order.attributes = [
      AttributeDescription("name", type: .string), AttributeDescription("tip", type: .decimal),
      AttributeDescription("count", type: .integer64),
    ]
    order.relationships = [.toMany("items", destination: "Item", inverse: "order")]
    var item = EntityDescription("Item")
    item.attributes = [AttributeDescription("price", type: .decimal), AttributeDescription("pieces", type: .integer64)]
    item.relationships = [.toOne("order", destination: "Order", inverse: "items")]
    return ManagedObjectModel(entities: [order, item])
  }

  private func columns(_ formats: String..., by keys: [String] = []) throws -> FetchRequest {
    var request = FetchRequest("Order")
    request.propertiesToFetch = try formats.map { FetchColumn($0, expression: try Expression(format: $0)) }
    request.propertiesToGroupBy = keys
    return request
  }

  private func isDecimalZero(_ value: Value?) -> Bool {
    if case .decimal(0)? = value { true } else { false }
  }

  @Test(arguments: StoreKind.allCases) func theSumOfNoDecimalsIsADecimal(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model())
    let context = bench.context()
    // First without objects, then with objects without values; before and after a save.
    for step in 0..<3 {
      for request in [
        try columns("@sum.tip", "@sum.count", "sum:(tip)"),
        try columns("@sum.tip", "@sum.count", "sum:(tip)", by: ["name"]),
      ] {
        for row in try context.fetchDictionaries(request) {
          #expect(isDecimalZero(row["@sum.tip"]) && isDecimalZero(row["sum:(tip)"]), "\(step): \(row)")
          if case .int(0)? = row["@sum.count"] {} else { Issue.record("\(row)") }
        }
      }
      let plain = try context.fetchDictionaries(columns("items.@sum.price", "sum:(items.price)", "items.@sum.pieces"))
      for row in plain {
        #expect(isDecimalZero(row["items.@sum.price"]) && isDecimalZero(row["sum:(items.price)"]), "\(step): \(row)")
        if case .int(0)? = row["items.@sum.pieces"] {} else { Issue.record("\(row)") }
      }
      if step == 0 { try context.insert("Order", values: ["name": "a"]) } else { try context.save() }
    }
    let order = try #require(try context.fetch(FetchRequest("Order")).first)
    #expect(isDecimalZero(try order.value(forKeyPath: "items.@sum.price")))
    #expect(try context.count(FetchRequest("Order", where: try Predicate(format: "items.@sum.price == 0"))) == 1)
    // With a value, the sum is that value.
    try order.setValue(.decimal(try #require(Decimal(string: "0.1"))), forKey: "tip")
    try context.save()
    let sum = try context.fetchDictionaries(columns("@sum.tip")).first?["@sum.tip"]
    #expect(sum == .decimal(try #require(Decimal(string: "0.1"))))
  }
}
