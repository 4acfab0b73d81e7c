import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Converts the history of a store to the new entities: their numbers, the bits of changed properties, and the columns
/// with preserved values of deleted objects. Changes of removed entities are deleted.
///
/// The history (`ACHANGE`) refers to entities by number and to properties by bits, both of which a migration may
/// change. Transactions stay; tokens of programs stay valid.
struct HistoryMigration {
  /// The old and new entities.
  let map: MigrationMap
  /// The connection of the migration's transaction.
  let connection: Connection
  /// The path of the store, for messages.
  let path: String

  /// Converts the history, if there is one. The tables get the columns for preserved values of the newer model.
  func run() throws {
    guard let form = try HistoryForm(connection, path: path) else { return }
    for (index, migration) in map.entities.enumerated() { try move(migration, index: index, form: form) }
    for entity in map.removed { try connection.execute("DELETE FROM ACHANGE WHERE ZENTITY = \(entity.number)") }
    // New numbers are negative until all are assigned, as a new number may be the old number of another entity.
    try connection.execute("UPDATE ACHANGE SET ZENTITY = -ZENTITY WHERE ZENTITY < 0")
    try HistorySchema(layout: map.new, path: path).write(connection)
  }

  /// Converts the changes of one entity. The entity number becomes negative here.
  private func move(_ migration: EntityMigration, index: Int, form: HistoryForm) throws {
    let (old, new) = (migration.old, migration.new)
    var settings = ["ZENTITY = -\(new.number)"]
    let places = bits(migration)
    if places != (0..<places.count).map({ $0 }) || places.count != ChangedColumns.count(new) {
      let name = "moonbase_changed_\(index)"
      let count = ChangedColumns.count(new)
      try connection.register(function: name, arguments: 1, traits: .directOnly) { call in
        if call.isNull(0) { return call.setNull() }
        call.set(ChangedColumns.moved(call.data(0), to: places, count: count))
      }
      settings.append("ZCOLUMNS = \(name)(ZCOLUMNS)")
    }
    let tombstones = tombstones(migration, form: form)
    if tombstones.contains(where: { $0.column != $0.source }) {
      settings += tombstones.map { "\($0.column) = \($0.source)" }
    }
    guard settings.count > 1 || old.number != new.number else { return }
    try connection.execute("UPDATE ACHANGE SET \(settings.joined(separator: ", ")) WHERE ZENTITY = \(old.number)")
  }

  /// The new position of each bit; nil if its property was removed. By position in the old bitmap.
  private func bits(_ migration: EntityMigration) -> [Int?] {
    let new = ChangedColumns.ordered(migration.new)
    var places: [Slot: [Int]] = [:]
    for (place, property) in new.enumerated() {
      if let origin = migration.origin(of: property) { places[origin.property.slot, default: []].append(place) }
    }
    // A property with two bits keeps both, or the first if only one remains.
    var count: [Slot: Int] = [:]
    return ChangedColumns.ordered(migration.old).map { property in
      guard let all = places[property.slot] else { return nil }
      defer { count[property.slot, default: 0] += 1 }
      return all[min(count[property.slot] ?? 0, all.count - 1)]
    }
  }

  /// The new contents of the columns for preserved values. A column without a source becomes NULL.
  private func tombstones(_ migration: EntityMigration, form: HistoryForm) -> [(column: String, source: String)] {
    let old = migration.old.tombstone.map(\.slot)
    let columns = form.tombstoneColumns
    guard !old.isEmpty else { return [] }
    let sources = migration.new.tombstone.map { property -> String in
      guard let place = migration.origin(of: property).flatMap({ old.firstIndex(of: $0.property.slot) }),
        place < columns.count
      else { return "NULL" }
      return columns[place]
    }
    return columns.enumerated().map { index, column in (column, index < sources.count ? sources[index] : "NULL") }
  }
}
