import MoonbaseGraph
import MoonbaseModel

extension StoreLayout {
  /// The tables that every store has.
  private static let ownTables = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

  /// Throws where two parts of the model would lie in one table, or both keys of a pair in one column: SQLite's names know no
  /// case, and the format writes them in capitals.
  func checkNames() throws {
    var taken = Set(Self.ownTables)
    for name in tables.map(\.name) + joins.map(\.table) where !taken.insert(name.asciiUppercased).inserted {
      let users = users(of: name.asciiUppercased)
      let other = users.count > 1 ? users[1] : "the store itself"
      throw clash(users.first ?? name, other, "would share the table \(name)")
    }
    for join in joins where join.ownerColumn.asciiUppercased == join.destinationColumn.asciiUppercased {
      let names = relationships(in: join)
      throw clash(
        names.first ?? join.table, names.last ?? join.table,
        "would share the column \(join.ownerColumn) of the table \(join.table)")
    }
  }

  private func clash(_ one: String, _ other: String, _ what: String) -> GraphError {
    GraphError(
      .invalidStore, "\(one) and \(other) \(what) in a SQLite store, which looks at no case: rename one of them")
  }

  /// What of the model lies in a table.
  private func users(of table: String) -> [String] {
    let roots = entities.compactMap { $0 }.filter { $0.entity.parent == nil && $0.table.asciiUppercased == table }
    let pairs = joins.filter { $0.table.asciiUppercased == table }
    return roots.map { "entity \($0.entity.name)" }
      + pairs.map { "relationship \(relationships(in: $0).joined(separator: " with its inverse "))" }
  }

  /// The relationships that a table of pairs is for, as `Entity.name`.
  private func relationships(in join: JoinLayout) -> [String] {
    entities.compactMap { $0 }.flatMap { layout in
      layout.entity.properties.filter { property in
        guard property.declaringEntity == layout.entity.index, case .join(let side) = layout.slots[property.slot],
          side.table == join.table
        else { return false }
        return Set([side.ownerColumn, side.destinationColumn]) == Set([join.ownerColumn, join.destinationColumn])
      }.map { "\(layout.entity.name).\($0.name)" }
    }
  }
}

extension String {
  /// In capitals as SQLite understands them: it takes letters beyond ASCII as they are.
  fileprivate var asciiUppercased: String {
    String(decoding: utf8.map { (0x61...0x7a).contains($0) ? $0 - 0x20 : $0 }, as: UTF8.self)
  }
}
