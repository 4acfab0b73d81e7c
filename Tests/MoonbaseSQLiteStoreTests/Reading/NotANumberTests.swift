import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore

/// `NSDecimalNumber.notANumber`, which Core Data writes as the text NaN.
@Suite struct NotANumberTests {
  private static let model = ManagedObjectModel {
    EntityDescription("Item") {
      AttributeDescription("name", type: .string)
      AttributeDescription("price", type: .decimal)
      AttributeDescription("same", type: .decimal).with { $0.derivationExpression = "price" }
    }
  }

  private static let prices: [(String, Value)] = [
    ("many", .decimal(Decimal(literal: "12345678901234567890.5") ?? 0)), ("nan", .decimal(.nan)), ("none", .null),
    ("one", .decimal(1)), ("less", .decimal(-5)),
  ]

  private func bench(_ kind: StoreKind) throws -> StoreBench {
    let bench = try StoreBench(kind, Self.model)
    let context = bench.context()
    for (name, price) in Self.prices { try context.insert("Item", values: ["name": .string(name), "price": price]) }
    try context.save()
    return bench
  }

  private func names(_ condition: String, _ arguments: [Value] = [], in context: ManagedObjectContext) throws
    -> [String]
  {
    var request = FetchRequest("Item", where: try Predicate(format: condition, arguments: arguments))
    request.sortDescriptors = [SortDescriptor("price"), SortDescriptor("name")]
    return try context.fetch(request).compactMap { $0["name"].string }
  }

  /// NaN is a single value, less than every number, in every store and in unsaved changes.
  @Test(arguments: StoreKind.allCases, [false, true])
  func itIsComparedAsFoundationComparesIt(_ kind: StoreKind, _ isPending: Bool) throws {
    let bench = try bench(kind)
    let context = bench.stranger()
    if isPending {
      for item in try context.fetch(FetchRequest("Item")) { item["price"] = item["price"]; item["name"] = item["name"] }
    }
    func expect(_ condition: String, _ arguments: Value..., names expected: [String]) throws {
      let found = try names(condition, arguments, in: context)
      #expect(found == expected, "\(condition)")
    }
    try expect("TRUEPREDICATE", names: ["none", "nan", "less", "one", "many"])
    try expect("price < 0", names: ["nan", "less"])
    try expect("price >= 0", names: ["one", "many"])
    try expect("price == %@", .decimal(.nan), names: ["nan"])
    try expect("price > %@", .decimal(.nan), names: ["less", "one", "many"])
    try expect("price IN %@", .list([.decimal(.nan), .int(1)]), names: ["nan", "one"])
    try expect("price == nil", names: ["none"])
    try expect("price BETWEEN {-10, 1}", names: ["less", "one"])
    try expect("same == %@", .decimal(.nan), names: ["nan"])
  }

  @Test(arguments: StoreKind.allCases) func itIsWrittenAndReadAgain(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let item = try #require(try context.fetch(FetchRequest("Item", where: "name == 'nan'")).first)
    #expect(item["price"].decimal?.isNaN == true)
    // Assigning NaN again is no change.
    item["price"] = .decimal(.nan)
    #expect(!item.hasPersistentChangedValues)
    item["price"] = 2
    try context.save()
    try item.setValue("NaN", forKey: "price")
    try context.save()
    let stranger = bench.stranger()
    let again = try #require(try stranger.fetch(FetchRequest("Item", where: "name == 'nan'")).first)
    #expect(again["price"].decimal?.isNaN == true)
  }

  @Test func whatCoreDataWroteIsNotDamaged() throws {
    let store = try MigratedStore()
    try store.fill(Self.model) { context in
      try context.insert("Item", values: ["name": "one", "price": .decimal(.nan)])
    }
    #expect(try RawDatabase(store.url).rows("SELECT TYPEOF(ZPRICE), ZPRICE FROM ZITEM") == ["text|NaN"])
    try RawDatabase(store.url).connection.executeScript("UPDATE ZITEM SET ZPRICE = 1; UPDATE ZITEM SET ZPRICE = 'NaN'")
    try store.using(Self.model) { context in
      let found = try names("price == %@", [.decimal(.nan)], in: context)
      #expect(found == ["one"])
    }
  }

  @Test func archivesKeepIt() throws {
    let value = Value.map(["a": .decimal(.nan), "b": .decimal(0), "c": .decimal(-3)])
    #expect(try ValueArchive.value(of: ValueArchive.data(of: value)) == value)
  }
}
