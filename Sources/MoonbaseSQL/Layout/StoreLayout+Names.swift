import MoonbaseGraph
import MoonbaseModel

extension StoreLayout {
  /// The tables that every store has.
  private static let ownTables = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

  /// Throws where two parts of the model would share a table, or both keys of a pair a column. SQLite's names are
  /// case-insensitive, and the format writes them in upper case. Throws `.invalidStore` naming both parts. Called for
  /// new and for existing files.
  func checkNames(_ dialect: Dialect) throws {
    var taken = Set(Self.ownTables)
    for name in tables.map(\.name) + joins.map(\.table) where !taken.insert(name.asciiUppercased).inserted {
      let users = users(of: name.asciiUppercased)
      let other = users.count > 1 ? users[1] : "the store itself"
      throw clash(users.first ?? name, other, what: "would share the table \(name)", dialect)
    }
    for join in joins where join.ownerColumn.asciiUppercased == join.destinationColumn.asciiUppercased {
      let names = relationships(in: join.table.asciiUppercased).joined()
      throw clash(
        names.first ?? join.table, names.reversed().first ?? join.table,
        what: "would share the column \(join.ownerColumn) of the table \(join.table)", dialect)
    }
  }

  /// The error of two names that clash.
  private func clash(_ one: String, _ other: String, what: String, _ dialect: Dialect) -> GraphError {
    GraphError(
      .invalidStore,
      message: "\(one) and \(other) \(what) in a \(dialect.engine) store, which looks at no case: rename one of them")
  }

  /// The entities and relationships that use a table. As `entity Person` and `relationship Person.tags with its inverse
  /// Tag.people`.
  private func users(of table: String) -> [String] {
    let roots = entities.compactMap { $0 }.filter { $0.entity.parent == nil && $0.table.asciiUppercased == table }
    return roots.map { "entity \($0.entity.name)" }
      + relationships(in: table).map { "relationship \($0.joined(separator: " with its inverse "))" }
  }

  /// The relationships whose pairs are in a table, each with its inverse. Each relationship once, although both sides
  /// have the table.
  private func relationships(in table: String) -> [[String]] {
    var result: [[String]] = []
    for layout in entities.compactMap({ $0 }) {
      for property in layout.entity.properties where property.declaringEntity == layout.entity.index {
        guard case .join(let join) = layout.slots[property.slot], join.table.asciiUppercased == table else { continue }
        let names = names(of: property)
        if !result.joined().contains(names[0]) { result.append(names) }
      }
    }
    return result
  }

  /// A relationship and its inverse as `Entity.name`. A single name for a reflexive relationship, and without an
  /// inverse.
  private func names(of property: ResolvedProperty) -> [String] {
    let inverse = property.relationship.flatMap { relationship in
      relationship.inverseSlot.map { model.destination(of: relationship).properties[$0] }
    }
    return [property, inverse == nil || inverse === property ? nil : inverse].compactMap { side in
      side.map { "\(model.entities[$0.declaringEntity].name).\($0.name)" }
    }
  }
}

/// SQLite ignores case for these letters only; Swift's `uppercased()` would also change others.
extension String {
  /// Upper case as SQLite understands it, for ASCII letters only.
  fileprivate var asciiUppercased: String {
    String(decoding: utf8.map { (0x61...0x7a).contains($0) ? $0 - 0x20 : $0 }, as: UTF8.self)
  }
}
