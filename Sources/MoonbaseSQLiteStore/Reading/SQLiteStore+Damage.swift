package import MoonbaseGraph
package import MoonbaseModel
import MoonbaseSQL

extension SQLiteStore {
  /// Hands what rows of an entity and of its subentities hold in the place of values to `body`: an error for each, which names table, key
  /// and attribute, and one for a row whose entity nobody knows.
  package func forEachDamagedValue(of entity: ResolvedEntity, _ body: (GraphError) throws -> Void) throws {
    try forEachBatch(matching: StoreQuery(entity: entity, in: layout.model, includesSubentities: true)) { rows in
      for row in rows { try row.damagedValues.forEach(body) }
      return true
    }
  }
}
