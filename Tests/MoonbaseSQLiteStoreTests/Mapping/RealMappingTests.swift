import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// A store and a mapping model of a real application.
@Suite(.enabled(if: RealStores.areThere, "the real stores are not beside the checkout"))
struct RealMappingTests {
  /// LoopKit's own policies are Swift classes of LoopKit. These policies follow the mapping instead.
  private static func policies() -> [String: EntityMigrationPolicy] {
    [
      "LoopKit.CachedCarbObjectv3EntityMigrationPolicy": EntityMigrationPolicy(),
      "LoopKit.DeletedCarbObjectv3EntityMigrationPolicy": EntityMigrationPolicy(),
    ]
  }

  private func rows(_ url: URL, _ model: ResolvedModel) throws -> [String] {
    let file = try RawDatabase(url)
    return try model.entities.flatMap { entity in
      let table = "Z\(entity.name.uppercased())"
      let columns = try file.rows("SELECT name FROM pragma_table_info('\(table)') ORDER BY name")
      let quoted = columns.filter { $0 != "Z_OPT" }.map { "QUOTE(\($0))" }.joined(separator: ", ")
      return ["\(table) \(columns)"] + (try file.rows("SELECT \(quoted) FROM \(table) ORDER BY Z_PK"))
    }
  }

  @Test func loopKitsMappingModelDoesWhatTheInferredOneDoes() throws {
    let models = try #require(RealStores.folder).appendingPathComponent("models")
    let model = try ManagedObjectModel.read(
      ModelSource(contentsOf: models.appendingPathComponent("LoopKit-Model_v4.contents.xml"))
    ).resolved()
    let mapping = try MappingModel(
      ModelSource(contentsOf: models.appendingPathComponent("LoopKit-Modelv1v4.xcmapping.xml")))
    let folder = try TemporaryFolder()
    let url = try RealStores.copy("LoopKit-Model.v1", to: folder)
    let named = Set(mapping.entityMappings.compactMap(\.migrationPolicyClassName))
    #expect(named == Set(Self.policies().keys))
    try SQLiteStore.migrate(storeAt: url, to: model, with: mapping, policies: Self.policies())
    let other = try TemporaryFolder()
    let inferred = try RealStores.copy("LoopKit-Model.v1", to: other)
    try SQLiteStore.migrate(storeAt: inferred, to: model, allowsLoss: true)
    #expect(try rows(url, model) == rows(inferred, model))
    #expect(try RawDatabase(url).rows("SELECT COUNT(*) FROM ZPUMPEVENT") == ["4"])
    #expect(try RawDatabase(url).rows("PRAGMA integrity_check") == ["ok"])
    #expect(try SQLiteStore.cachedModel(ofStoreAt: url).resolved().versionHashes == model.versionHashes)
  }
}
