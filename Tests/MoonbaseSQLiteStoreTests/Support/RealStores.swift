import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Stores that Apple's Core Data wrote. They are not part of the project: tests that need them use the folder beside
/// the checkout or at `MOONBASE_FIXTURES`, and are reported as skipped without it.
enum RealStores {
  static let folder: URL? = {
    let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let beside = checkout.appendingPathComponent("../shared/fixtures").standardizedFileURL
    let named = TestLength.fixtures.map { URL(fileURLWithPath: $0) }
    return [named, beside].compactMap { $0 }.first {
      FileManager.default.fileExists(atPath: $0.appendingPathComponent("stores").path)
    }
  }()

  static var areThere: Bool { folder != nil }

  static let all = [
    "Bookmarks_V5", "CoreDataPlus-SampleModel2_V1", "CoreDataPlus-SampleModel3_V1", "CoreDataPlus-SampleModel_V1",
    "LoopKit-Model.v1", "SurfJournalModel", "SyncMetadata_V3", "plaso-NoteStore",
  ]

  /// A writable copy with its write-ahead log.
  static func copy(_ name: String, to folder: TemporaryFolder) throws -> URL {
    let stores = try #require(self.folder).appendingPathComponent("stores")
    for suffix in ["", "-wal"] {
      let source = stores.appendingPathComponent("\(name).sqlite\(suffix)")
      guard FileManager.default.fileExists(atPath: source.path) else { continue }
      let target = folder.file("\(name).sqlite\(suffix)")
      try FileManager.default.copyItem(at: source, to: target)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target.path)
    }
    return folder.file("\(name).sqlite")
  }

  /// The model of a store: its own cache, or else Xcode's file.
  static func model(of store: URL) throws -> ResolvedModel {
    if let cache = try SQLiteStore.modelCache(ofStoreAt: store) {
      return try ManagedObjectModel(modelCache: cache).resolved()
    }
    let file = try #require(folder).appendingPathComponent("models/kodeco-SurfJournalModel.contents.xml")
    return try ManagedObjectModel.read(try ModelSource(contentsOf: file)).resolved()
  }
}
