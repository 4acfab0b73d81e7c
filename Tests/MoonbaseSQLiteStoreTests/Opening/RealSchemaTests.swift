import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Compares a new store with the store that Core Data made of the same model.
@Suite(.enabled(if: RealStores.areThere, "the fixtures are not beside the checkout"))
struct RealSchemaTests {
  /// The permitted differences: statements that only Core Data's store has, or only Moonbase's.
  private static let allowed: [String: Set<String>] = [
    // No rule is known for which of two inverse relationships of one entity comes first in their table of pairs.
    "Bookmarks_V5": [
      "CREATE TABLE Z_1FAVORITES ( Z_1FAVORITEFOLDERS INTEGER, Z_1FAVORITES INTEGER, Z_FOK_1FAVORITES INTEGER, "
        + "PRIMARY KEY (Z_1FAVORITEFOLDERS, Z_1FAVORITES) )",
      "CREATE INDEX Z_1FAVORITES_Z_1FAVORITES_INDEX ON Z_1FAVORITES (Z_1FAVORITES, Z_1FAVORITEFOLDERS)",
      "CREATE TABLE Z_1FAVORITES ( Z_1FAVORITES INTEGER, Z_1FAVORITEFOLDERS INTEGER, Z_FOK_1FAVORITES INTEGER, "
        + "PRIMARY KEY (Z_1FAVORITES, Z_1FAVORITEFOLDERS) )",
      "CREATE INDEX Z_1FAVORITES_Z_1FAVORITEFOLDERS_INDEX ON Z_1FAVORITES (Z_1FAVORITEFOLDERS, Z_1FAVORITES)",
    ],
    // An older framework stored no model in the file.
    "SurfJournalModel": ["CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"],
  ]
  /// Tables whose columns have another order, because a migration added some.
  private static let reordered: Set = ["ZICCLOUDSYNCINGOBJECT"]

  @Test(arguments: RealStores.all) func aNewStoreHasTheTablesIndexesAndTriggersThatCoreDataMakes(name: String) throws {
    let (theirs, ours) = try stores(name) { raw in
      try raw.rows("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").map(Self.ordered)
    }
    #expect(Set(theirs).symmetricDifference(ours) == Self.allowed[name] ?? [])
    #expect(Set(theirs).count == theirs.count && Set(ours).count == ours.count)
  }

  /// The statement that creates a table, with the columns sorted where their order may differ.
  private static func ordered(_ sql: String) -> String {
    let words = sql.split(separator: " ")
    guard words[1] == "TABLE", reordered.contains(String(words[2])) else { return sql }
    let columns = words[4..<words.count - 1].joined(separator: " ").split(separator: ", ").sorted()
    return (words[..<4].map(String.init) + [columns.joined(separator: ", "), ")"]).joined(separator: " ")
  }

  @Test(arguments: RealStores.all) func aNewStoreHasTheSameNumbersAndSettings(name: String) throws {
    let (theirs, ours) = try stores(name) { raw in
      try raw.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
        + ["page_size", "auto_vacuum", "encoding", "user_version", "application_id"]
        .map { try "\($0) \(raw.value("PRAGMA \($0)") ?? "")" }
    }
    #expect(theirs == ours)
  }

  /// The results of `look` for a store of Core Data and for a new store of its model, with a history if the former has
  /// one.
  private func stores(_ name: String, _ look: (RawDatabase) throws -> [String]) throws -> ([String], [String]) {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    let real = try RawDatabase(url)
    let theirs = try look(real)
    let tracksHistory = try real.schema("ACHANGE") != nil
    _ = try SQLiteStore(
      url: folder.file("new.sqlite"), model: RealStores.model(of: url), options: .init(tracksHistory: tracksHistory))
    return (theirs, try look(RawDatabase(folder.file("new.sqlite"))))
  }
}
