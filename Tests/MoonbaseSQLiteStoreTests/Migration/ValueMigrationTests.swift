import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Attributes with another type, a new requirement or another storage.
@Suite struct ValueMigrationTests {
  private func model(_ type: AttributeType, _ change: (inout AttributeDescription) -> Void = { _ in })
    -> ManagedObjectModel
  {
    ManagedObjectModel { EntityDescription("Thing") { AttributeDescription("value", type: type).with(change) } }
  }

  private func filled(_ type: AttributeType, _ values: [Value]) throws -> MigratedStore {
    let store = try MigratedStore()
    try store.fill(model(type)) { context in
      for value in values { try context.insert("Thing", values: ["value": value]) }
    }
    return store
  }

  private func values(_ store: MigratedStore, _ model: ManagedObjectModel) throws -> [Value] {
    try store.using(model) { context in
      try context.fetch(FetchRequest("Thing")).sorted { $0.objectID.key < $1.objectID.key }.map {
        try $0.value(forKey: "value")
      }
    }
  }

  @Test(
    arguments: [
      (AttributeType.integer16, AttributeType.integer64, [1, .null, -3], [1, .null, -3]),
      (.integer64, .integer16, [1, 32_767], [1, 32_767]),
      (.boolean, .integer16, [true, false], [1, 0]),
      (.integer16, .boolean, [1, 0, .null], [true, false, .null]),
      (.integer32, .string, [12, -1], ["12", "-1"]),
      (.string, .integer32, ["12", "-1"], [12, -1]),
      (.string, .double, ["1.5", "2"], [1.5, 2.0]),
      (.double, .integer16, [2.0, -7.0], [2, -7]),
      (.double, .decimal, [.double(0.1)], [.decimal(Decimal(string: "0.1") ?? 0)]),
      (.decimal, .string, [.decimal(Decimal(string: "1234567890123456.75") ?? 0)], ["1234567890123456.75"]),
      (.string, .decimal, ["1234567890123456789.125"], [.decimal(Decimal(string: "1234567890123456789.125") ?? 0)]),
      (.date, .string, [.date(Date(timeIntervalSinceReferenceDate: 0))], ["2001-01-01T00:00:00.000Z"]),
      (.string, .date, ["2001-01-01"], [.date(Date(timeIntervalSinceReferenceDate: 0))]),
    ] as [(AttributeType, AttributeType, [Value], [Value])])
  func valuesBecomeWhatTheyMeanInTheNewType(
    _ old: AttributeType, _ new: AttributeType, _ before: [Value], _ after: [Value]
  ) throws {
    let store = try filled(old, before)
    #expect(try store.migrate(to: model(new)).losses == [])
    #expect(try values(store, model(new)) == after)
  }

  @Test(
    arguments: [
      (AttributeType.string, AttributeType.integer16, ["1", "a lot", "70000"], 2, 2),
      (.double, .integer32, [1.0, 1.5], 1, 2), (.integer64, .integer16, [1, 40_000], 1, 2),
      (.integer64, .boolean, [0, 2], 1, 2),
      (.integer64, .double, [.int(9_007_199_254_740_993)], 1, 1), (.double, .float, [1.5, 0.1], 1, 2),
      (.decimal, .double, [.decimal(Decimal(string: "1.2345678901234567891") ?? 0)], 1, 1),
    ] as [(AttributeType, AttributeType, [Value], Int, Int64)])
  func whatTheNewTypeCannotKeepIsALoss(
    _ old: AttributeType, _ new: AttributeType, _ before: [Value], _ count: Int, _ first: Int64
  ) throws {
    let store = try filled(old, before)
    let contents = try store.folder.contents()
    let loss = try #require(try store.plan(to: model(new)).losses.first)
    #expect(loss.rowCount == count && loss.firstKey == first && loss.entity == "Thing" && loss.property == "value")
    #expect(throws: GraphError.self) { try store.migrate(to: model(new)) }
    #expect(try store.folder.contents() == contents)
    // With permission, the value becomes null, and the others stay.
    try store.migrate(to: model(new), allowsLoss: true)
    #expect(try values(store, model(new)).filter(\.isNull).count == count)
  }

  @Test func aValueThatIsRequiredNowGetsItsDefault() throws {
    let store = try filled(.integer16, [7, .null])
    let required = model(.integer64) { attribute in
      attribute.isOptional = false
      attribute.defaultValue = 5
    }
    try store.migrate(to: required)
    #expect(try values(store, required) == [7, 5])
  }

  @Test func withoutADefaultARequiredValueMustBeThere() throws {
    let required = model(.integer16) { $0.isOptional = false }
    let whole = try filled(.integer16, [7])
    #expect(try whole.migrate(to: required).losses == [])
    let store = try filled(.integer16, [7, .null])
    let error = #expect(throws: GraphError.self) { try store.migrate(to: required) }
    #expect(error?.code == .migrationLoss)
    #expect(error?.details.first?.message == "Thing.value: 1 row has no value, and one is required (row 2)")
  }

  @Test func externalStorageIsSwitchedOnAndOff() throws {
    let values: [Value] = [.data(Data(repeating: 7, count: 150_000)), .data(Data([1, 2])), .null]
    let store = try filled(.binaryData, values)
    let external = model(.binaryData) { $0.allowsExternalBinaryDataStorage = true }
    let folder = store.folder.file(".store_SUPPORT/_EXTERNAL_DATA").path
    try store.migrate(to: external)
    #expect(try self.values(store, external) == values)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
    #expect(try RawDatabase(store.url).rows("SELECT LENGTH(ZVALUE) FROM ZTHING ORDER BY Z_PK") == ["38", "3", ""])
    // The file stays in place when something else changes.
    let more = external.changed { $0.entities[0].attributes.append(AttributeDescription("name", type: .string)) }
    try store.migrate(to: more)
    #expect(try self.values(store, more) == values)
    try store.migrate(to: model(.binaryData))
    #expect(try self.values(store, model(.binaryData)) == values)
    #expect((try? FileManager.default.contentsOfDirectory(atPath: folder))?.isEmpty ?? true)
  }
}
