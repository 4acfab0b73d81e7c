import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Values of Swift types through each accessor that takes values.
@Suite struct ConvertibleValueTests {
  private enum Status: String, AttributeValue {
    case open, closed
    static var defaultWhenNull: Status { .closed }
  }

  private enum Level: Int, Codable, AttributeValue {
    case low = 1, high
    static var defaultWhenNull: Level { .low }
  }

  private struct Frame: Codable, Equatable, AttributeValue {
    var width = 0.0
    var names: [String] = []
    static var defaultWhenNull: Frame { Frame() }
  }

  private final class Item: ManagedObject {
    static let status = Attribute<Item, Status>("status")
    static let level = Attribute<Item, Level?>("level")
    static let frame = Attribute<Item, Frame>("frame")
    static let tags = Attribute<Item, [String]>("frame")
    static let sizes = Attribute<Item, [String: Int]?>("frame")
    static let number = Attribute<Item, UInt64>("number")
  }

  private static let model = ManagedObjectModel {
    EntityDescription("Item", class: "Item") {
      AttributeDescription("status", type: .string)
      AttributeDescription("level", type: .integer16)
      AttributeDescription("frame", type: .transformable)
      AttributeDescription("number", type: .integer64)
      AttributeDescription("born", type: .date)
      RelationshipDescription.toOne("owner", destination: "Item", inverse: "owned")
      RelationshipDescription.toMany("owned", destination: "Item", inverse: "owner")
    }
  }

  private func bench(_ kind: StoreKind) throws -> (StoreBench, ManagedObjectContext) {
    let bench = try StoreBench(kind, Self.model)
    bench.coordinator.register(Item.self, forClassName: "Item")
    return (bench, bench.context())
  }

  @Test(arguments: StoreKind.allCases) func everyDoorTakesThem(_ kind: StoreKind) throws {
    let (bench, context) = try bench(kind)
    let (status, level, born) = (Status.open, Level.high, Date(timeIntervalSinceReferenceDate: 5))
    let owner = try context.insert(Item.self, values: ["status": status, "level": level, "number": 4])
    let item = try context.insert(
      "Item", values: ["status": status.rawValue, "owner": owner, "born": born, "level": nil])
    #expect(try item.object(forKey: "owner") === owner && item.value(forKey: "born") == .date(born))
    try item.setValue(level, forKey: "level")
    try item.setValue(owner.objectID, forKeyPath: "owner")
    try item.setPrimitiveValue(Int8(3), forKey: "number")
    try item.setValuesForKeys(["born": Date?.none, "status": status])
    #expect(try item.value(forKey: "born").isNull && item.value(forKey: "number") == 3)
    #expect(try item.validate("x".dropFirst(), forKey: "status").isEmpty)
    try context.save()
    #expect(try context.fetch(Item.self, where: "owner == %@ AND level == %@", owner, level) == [item as? Item])
    #expect(try context.fetchedObjects(Item.self, where: "status == %@", status).count == 2)
    let update = BatchUpdateRequest("Item", set: ["status": Status.closed, "born": born])
    try context.execute(update)
    try context.execute(BatchInsertRequest("Item", objects: [["status": status], ["status": nil, "level": level]]))
    let later = bench.context()
    #expect(try later.count(FetchRequest("Item", where: "status == %@", Status.closed)) == 2)
    #expect(try later.count(FetchRequest("Item", where: "born == %@", born)) == 2)
    #expect(try later.count(FetchRequest("Item", where: "status == nil AND level == %@", level)) == 1)
  }

  @Test(arguments: StoreKind.allCases) func typedKeysReadAndSetThem(_ kind: StoreKind) throws {
    let (bench, context) = try bench(kind)
    let item = try context.insert(Item.self)
    #expect(item[Item.status] == .closed && item[Item.level] == nil && item[Item.frame] == Frame())
    item[Item.status] = .open
    item[Item.level] = .high
    item[Item.frame] = Frame(width: 2.5, names: ["a"])
    item[Item.number] = 7
    try context.save()
    let later = bench.context()
    let copy = try #require(later.fetch(Item.self).first)
    #expect(copy[Item.status] == .open && copy[Item.level] == .high && copy[Item.number] == 7)
    #expect(copy[Item.frame] == Frame(width: 2.5, names: ["a"]))
    #expect(try copy.value(forKey: "level") == 2)
    item[Item.tags] = ["x", "y"]
    #expect(item[Item.tags] == ["x", "y"] && item[Item.sizes] == nil && context.pendingErrors.count == 1)
    item[Item.sizes] = ["x": 1]
    #expect(item[Item.sizes] == ["x": 1])
  }

  /// An unknown raw value, an integer out of range and a value that cannot be encoded are kept as errors.
  @Test(arguments: StoreKind.allCases) func whatDoesNotFitIsTold(_ kind: StoreKind) throws {
    let (_, context) = try bench(kind)
    let item = try context.insert(Item.self, values: ["status": "other", "number": 5])
    #expect(item[Item.status] == .closed && context.pendingErrors.count == 1)
    item[Item.status] = .open
    item[Item.number] = .max
    #expect(item[Item.number] == 5 && context.pendingErrors.count == 2)
    item[Item.frame] = Frame(width: 1)
    item[Item.frame] = Frame(width: .nan)
    #expect(item[Item.frame] == Frame(width: 1) && context.pendingErrors.count == 3, "\(context.pendingErrors)")
    #expect(throws: GraphError.self) { try item.setValue(Frame(width: .nan), forKey: "frame") }
    #expect(throws: GraphError.self) { try item.setValue(Frame(width: .nan), forKey: "status") }
    #expect(throws: GraphError.self) { try context.insert(Item.self, values: ["frame": Frame(width: .nan)]) }
    #expect(throws: (any Error).self) { try context.save() }
  }
}
