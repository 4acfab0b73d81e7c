import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQL
package import MoonbaseSQLite

/// Reads the metadata of a file.
extension StoreMetadata {
  /// Reads the metadata row. Throws `.invalidStore` where there is none. The property list `Z_PLIST` has the entries,
  /// `Z_UUID` the identifier. A UUID is brought into its usual form.
  package init(_ connection: Connection, path: String) throws {
    let columns = try FileSchema.columns(of: "Z_METADATA", on: connection)
    guard !columns.isEmpty else {
      throw GraphError(
        .invalidStore,
        message: "\(path) is a SQLite database but no Core Data store (it has no table Z_METADATA): moonbase import "
          + "\(path) --infer --store new.sqlite makes a store of its tables")
    }
    try FileSchema.require(["Z_VERSION", "Z_UUID", "Z_PLIST"], in: "Z_METADATA", found: columns, path: path)
    let statement = try connection.statement("SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1")
    defer { statement.reset() }
    guard try statement.step() else {
      throw GraphError(.invalidStore, message: "\(path) is damaged: its table Z_METADATA is empty")
    }
    guard !statement.isNull(1) else { throw Self.lacking(path) }
    let text = statement.text(0)
    let entries: [String: PropertyList]
    do {
      entries = try PropertyList(binary: statement.data(1)).dictionary ?? [:]
    } catch {
      throw GraphError(.invalidStore, message: "\(path) is damaged: its metadata cannot be read", underlying: error)
    }
    self.init(identifier: UUID(literal: text)?.uuidString ?? text, entries: entries)
  }

  /// A new file has no metadata before the first checkpoint: until then all data is in the log. The advice depends on
  /// whether a log is there.
  private static func lacking(_ path: String) -> GraphError {
    let hasLog = access(path + "-wal", F_OK) == 0
    let advice =
      hasLog
      ? "restore it from a backup"
      : "most likely it was copied without its write-ahead log, which has it: copy \(path)-wal too, or take a copy "
        + "that moonbase backup makes"
    return GraphError(
      .invalidStore,
      message: "\(path) is not whole: its Z_METADATA has no property list (Z_PLIST), and so no model: \(advice)")
  }

  /// Throws where the identifier is no UUID. The URIs of the store's objects contain it. The code is `.invalidStore`.
  package func checkIdentifier(_ path: String) throws {
    guard UUID(literal: identifier) == nil else { return }
    let shown = identifier.isEmpty ? "empty" : Value.string(identifier).beginning ?? identifier
    throw GraphError(
      .invalidStore,
      message:
        "\(path) is damaged: Z_UUID of its Z_METADATA is \(shown), which is no UUID; restore it from a backup, or give it "
        + "one: sqlite3 \(path) \"UPDATE Z_METADATA SET Z_UUID = '$(uuidgen)'\"")
  }

  /// Writes the row with the version 1, and replaces it if it exists.
  package func write(_ connection: Connection) throws {
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)")
    statement.bind(identifier, at: 1)
    statement.bind(PropertyList.dictionary(entries).binaryData, at: 2)
    try statement.run()
  }
}
