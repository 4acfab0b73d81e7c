import MoonbaseCSQLite
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseTestSupport

/// Stores and models that Apple's Core Data wrote. They are not part of the project: tests that need them use the
/// folder beside the checkout or at `MOONBASE_FIXTURES`.
enum RealFiles {
  static let folder: URL? = {
    var candidates: [URL] = []
    if let path = TestLength.fixtures { candidates.append(URL(fileURLWithPath: path)) }
    let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    candidates.append(checkout.appendingPathComponent("../shared/fixtures").standardizedFileURL)
    return candidates.first { FileManager.default.fileExists(atPath: $0.appendingPathComponent("models").path) }
  }()

  static var areThere: Bool { folder != nil }

  static func url(_ path: String) -> URL { (folder ?? URL(fileURLWithPath: "/")).appendingPathComponent(path) }

  static func model(_ name: String) throws -> ManagedObjectModel {
    try ManagedObjectModel.read(try ModelSource(contentsOf: url("models/\(name)")))
  }

  /// The files `*.contents.xml` of the models.
  static let xcodeModels = [
    "CoreDataPlus-SampleModel3_V1", "CoreDataPlus-SampleModel_V1", "LoopKit-Model_v1", "LoopKit-Model_v4",
    "ddg-BookmarksModel5", "ddg-SyncMetadata3", "kodeco-SurfJournalModel",
  ].map { $0 + ".contents.xml" }

  /// Stores that contain their model.
  static let storesWithCache = [
    "Bookmarks_V5.sqlite", "CoreDataPlus-SampleModel2_V1.sqlite", "CoreDataPlus-SampleModel3_V1.sqlite",
    "CoreDataPlus-SampleModel_V1.sqlite", "LoopKit-Model.v1.sqlite", "SyncMetadata_V3.sqlite", "plaso-NoteStore.sqlite",
  ]

  static func modelCache(of store: String) throws -> Data { try blob("SELECT Z_CONTENT FROM Z_MODELCACHE", store) }

  static func metadata(of store: String) throws -> PropertyList {
    try PropertyList(binary: blob("SELECT Z_PLIST FROM Z_METADATA", store))
  }

  /// The first column of the first row, read from a copy so that the file stays unchanged.
  private static func blob(_ sql: String, _ store: String) throws -> Data {
    let copy = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sqlite")
    defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) } }
    let source = url("stores/\(store)")
    try FileManager.default.copyItem(at: source, to: copy)
    if FileManager.default.fileExists(atPath: source.path + "-wal") {
      try FileManager.default.copyItem(atPath: source.path + "-wal", toPath: copy.path + "-wal")
    }
    var database: OpaquePointer?
    var statement: OpaquePointer?
    defer {
      sqlite3_finalize(statement)
      sqlite3_close(database)
    }
    guard sqlite3_open(copy.path, &database) == SQLITE_OK,
      sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, sqlite3_step(statement) == SQLITE_ROW,
      let bytes = sqlite3_column_blob(statement, 0)
    else { throw ModelError(.cannotOpenFile, message: String(cString: sqlite3_errmsg(database))) }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, 0)))
  }
}
