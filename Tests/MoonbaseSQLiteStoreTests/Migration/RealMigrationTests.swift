import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Stores that Apple's Core Data wrote, migrated there and back.
@Suite(.enabled(if: RealStores.areThere, "the real stores are not beside the checkout"))
struct RealMigrationTests {
  /// All objects by hierarchy and key: their values, and the keys of their destinations.
  private func objects(_ url: URL, _ model: ResolvedModel, without added: String) throws -> [String: [String: String]] {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try SQLiteStore(url: url, model: model, options: SQLiteStoreOptions(readOnly: true))
    try coordinator.add(store)
    defer { try? coordinator.remove(store) }
    let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    var result: [String: [String: String]] = [:]
    for entity in model.entities where entity.parent == nil {
      for object in try context.fetch(FetchRequest(entity.name)) {
        var plain = ["": object.entity.name]
        for property in object.entity.properties where !property.isTransient && property.name != added {
          switch property.kind {
          case .attribute:
            plain[property.name] = (try? object.primitiveValue(forKey: property.name)).map { "\($0)" } ?? "?"
          case .toOne:
            plain[property.name] = try object.object(forKey: property.name).map { "\($0.objectID.key)" } ?? ""
          case .toMany(let relationship):
            let keys = try object.objects(forKey: property.name).map(\.objectID.key)
            plain[property.name] = "\(relationship.isOrdered ? keys : keys.sorted())"
          }
        }
        result["\(entity.name) \(object.objectID.key)"] = plain
      }
    }
    return result
  }

  /// The rows of all tables of entities and of the history, column by column in the order of the names.
  private func rows(_ url: URL, _ model: ResolvedModel) throws -> [String] {
    let file = try RawDatabase(url)
    let tables =
      model.entities.filter { $0.parent == nil }.map { "Z\($0.name.uppercased())" } + ["ACHANGE", "ATRANSACTION"]
    return try tables.flatMap { table in
      let columns = try file.rows("SELECT name FROM pragma_table_info('\(table)') ORDER BY name").map { "QUOTE(\($0))" }
      guard !columns.isEmpty else { return [String]() }
      return ["\(table) \(columns)"]
        + (try file.rows("SELECT \(columns.joined(separator: ", ")) FROM \(table) ORDER BY Z_PK"))
    } + file.rows("SELECT Z_ENT, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
  }

  @Test(arguments: RealStores.all) func aRealStoreGoesToAnotherModelAndComesBack(_ name: String) throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    let model = try RealStores.model(of: url)
    // Every entity number changes, and every table gets a column.
    var changed = model.description
    changed.entities.append(EntityDescription("AAA") { AttributeDescription("aaa", type: .string) })
    for index in changed.entities.indices where changed.entities[index].superentityName == nil {
      changed.entities[index].attributes.append(
        AttributeDescription("zzzNew", type: .string).with { $0.defaultValue = "new" })
    }
    changed.configurations = [:]
    let new = try changed.resolved()
    let (objects, rows) = (try objects(url, model, without: "zzzNew"), try rows(url, model))
    let plan = try SQLiteStore.migrate(storeAt: url, to: new, sources: [model])
    #expect(plan.losses == [])
    #expect(try self.objects(url, new, without: "zzzNew") == objects)
    #expect(try RawDatabase(url).rows("PRAGMA integrity_check") == ["ok"])
    try SQLiteStore.migrate(storeAt: url, to: model, allowsLoss: true)
    #expect(try self.objects(url, model, without: "zzzNew") == objects)
    #expect(try self.rows(url, model) == rows)
  }

  @Test func loopKitsStoreOfItsFirstModelBecomesOneOfTheFourth() throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy("LoopKit-Model.v1", to: folder)
    let file = try #require(RealStores.folder).appendingPathComponent("models/LoopKit-Model_v4.contents.xml")
    let model = try ManagedObjectModel.read(try ModelSource(contentsOf: file)).resolved()
    let before = try RawDatabase(url).rows(
      "SELECT Z_PK, ZDATE, QUOTE(ZRAW), ZTYPE, ZDOSETYPE, ZUNIT, ZVALUE FROM ZPUMPEVENT ORDER BY Z_PK")
    #expect(before.count == 4)
    // The fourth model has no upload state.
    let error = #expect(throws: GraphError.self) { try SQLiteStore.migrate(storeAt: url, to: model) }
    #expect(error?.details.map(\.property) == ["uploadState"])
    try SQLiteStore.migrate(storeAt: url, to: model, allowsLoss: true)
    #expect(
      try RawDatabase(url).rows(
        "SELECT Z_PK, ZDATE, QUOTE(ZRAW), ZTYPE, ZDOSETYPE, ZUNIT, ZVALUE FROM ZPUMPEVENT ORDER BY Z_PK") == before)
    #expect(try RawDatabase(url).rows("SELECT DISTINCT ZMODIFICATIONCOUNTER FROM ZPUMPEVENT") == ["0"])
    #expect(try SQLiteStore.cachedModel(ofStoreAt: url).resolved().versionHashes == model.versionHashes)
  }
}
