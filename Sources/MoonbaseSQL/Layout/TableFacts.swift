import MoonbaseModel

/// Facts about the tables of a store, collected in one pass over the entities: there may be thousands of both.
///
/// Used by checks and migrations, which would otherwise search all entities for each table.
package struct TableFacts {
  /// The columns of to-one relationships, by table. These columns hold keys and need an index.
  package private(set) var keys: [String: Set<String>] = [:]
  /// The tables that contain subentities. Their rows need `Z_ENT` in conditions.
  package private(set) var shared: Set<String> = []
  /// The order columns of both sides of a pair table. At most two columns per table.
  package private(set) var orders: [String: [String]] = [:]

  /// Collects the facts from a layout.
  package init(_ layout: StoreLayout) {
    for case let entity? in layout.entities {
      if entity.entity.parent != nil { shared.insert(entity.table) }
      for slot in entity.slots { note(slot, of: entity.table) }
    }
  }

  /// Notes the columns of one property.
  private mutating func note(_ slot: SlotLayout, of table: String) {
    switch slot {
    case .toOne(let toOne): keys[table, default: []].insert(toOne.column)
    case .join(let side):
      guard let column = side.orderColumn, orders[side.table]?.contains(column) != true else { return }
      orders[side.table, default: []].append(column)
    case .none, .lost, .attribute, .composite, .foreignKey: break
    }
  }
}
