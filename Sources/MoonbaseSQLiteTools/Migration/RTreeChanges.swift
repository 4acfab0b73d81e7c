import MoonbaseSQL
package import MoonbaseSQLite
import MoonbaseSQLiteStore

/// The R-trees that a migration drops, and those that it creates and fills.
///
/// Made before the rows are moved, since `kept` must be known. R-trees are the spatial and range indexes of the models;
/// their triggers follow every change of a row, so filling them once at the end is faster.
package struct RTreeChanges {
  /// Trees that only the old file has, or whose definitions change.
  private let removed: [RTreeLayout]
  /// Trees that the new model requires.
  private let added: [RTreeLayout]

  /// Compares the R-trees. A tree stays if its table and its definition stay. `kept` contains the tables that stay.
  package init(_ map: MigrationMap, kept: Set<String>) {
    let staying = Set(map.old.rTrees).intersection(map.new.rTrees).filter { kept.contains($0.table) }
    removed = map.old.rTrees.filter { !staying.contains($0) }
    added = map.new.rTrees.filter { !staying.contains($0) }
  }

  /// Drops old trees before rows are moved, so that none of their triggers run.
  package func remove(_ connection: Connection) throws {
    for tree in removed {
      for name in tree.triggerNames { try connection.execute("DROP TRIGGER \(identifier(name))") }
      try connection.execute(tree.removal)
    }
  }

  /// Creates new trees after all rows are migrated. A foreign table of the same name is left unchanged.
  package func write(_ connection: Connection) throws {
    for tree in added {
      let names = ([tree.name] + tree.triggerNames).map { "'\($0.lowercased())'" }.joined(separator: ", ")
      guard try connection.integer("SELECT 1 FROM sqlite_master WHERE LOWER(name) IN (\(names))") == nil else {
        continue
      }
      try connection.execute(tree.creation)
      try connection.execute(tree.filling)
      for trigger in tree.triggers { try connection.execute(trigger.sql) }
    }
    if !added.isEmpty { try connection.trustRTrees() }
  }
}
