import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Checks whether a file still is the opened store, when its schema version has changed. A program may have migrated
/// the store, replaced it, or only added an index or tables.
///
/// SQLite counts changes of the schema in the file, so that the check costs one small read before most statements.
/// Shared by all connections of a store; a lock protects the accepted version.
struct SchemaCheck: Sendable {
  /// The file of the store.
  let file: StoreFile
  /// The layout with which the store was opened.
  let layout: StoreLayout
  /// The entities that the store holds.
  let entities: [ResolvedEntity]
  /// The UUID of the store.
  let identifier: String
  /// The features that were already missing when the store was opened.
  let missing: Set<MissingFeature>
  /// The schema version that was last accepted.
  private let known = Lock<Int64?>(nil)

  /// No schema version is accepted yet.
  init(
    file: StoreFile, layout: StoreLayout, entities: [ResolvedEntity], identifier: String, missing: [MissingFeature]
  ) {
    (self.file, self.layout, self.entities, self.identifier) = (file, layout, entities, identifier)
    self.missing = Set(missing)
  }

  /// Accepts the schema version without a check.
  func accept(_ version: Int64) { known.withLock { $0 = version } }

  /// Throws `.incompatibleVersionHash` for a store of another version of the model, and `.storeFailure` for other
  /// differences. Does nothing if the version is known. Added tables, indexes and foreign triggers are accepted. Call
  /// this within the transaction whose statements rely on the schema.
  func check(_ connection: Connection) throws {
    let version = try connection.schemaVersion()
    if known.withLock({ $0 == version }) { return }
    let loss = try ChangedTables(connection, layout: layout, path: file.path).error()
    let contents: StoreContents?
    do {
      contents = try connection.readingFacts(ofStoreAt: file.path) {
        try StoreContents(connection, path: file.path, model: layout.model, entities: entities)
      }
    } catch let error as GraphError where error.code != .incompatibleVersionHash {
      throw loss ?? error
    }
    guard let contents, contents.metadata.identifier == identifier else {
      throw changed(
        "it holds \(contents.map { "the store \($0.metadata.identifier)" } ?? "nothing") and no longer \(identifier)")
    }
    if let loss { throw loss }
    for case let (old?, new?) in zip(layout.entities, contents.layout.entities)
    where old.number != new.number || old.table != new.table {
      throw changed(
        "\(old.entity.name) is number \(new.number) in \(new.table) and was number \(old.number) in \(old.table)",
        entity: old.entity.name)
    }
    if let tree = layout.rTrees.first(where: { !contents.layout.rTrees.contains($0) }) {
      throw changed(
        "the R-tree \(tree.name) is gone, or its triggers are not those that keep it any more",
        entity: layout.model.entities[tree.entity].name)
    }
    if let lack = contents.missingFeatures.first(where: { !missing.contains($0) }) {
      throw changed(lack.reason, entity: lack.entity)
    }
    accept(version)
  }

  /// `what` describes the difference, as the middle of a sentence.
  private func changed(_ what: String, entity: String? = nil) -> GraphError {
    GraphError(
      .storeFailure,
      message: "\(file.path): another program changed the store while it was open: \(what); close it and open it again",
      entity: entity)
  }
}
