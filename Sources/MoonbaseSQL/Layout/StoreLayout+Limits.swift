import MoonbaseGraph
import MoonbaseModel

extension StoreLayout {
  /// Throws where a table would have more columns than the engine allows. The three columns `Z_PK`, `Z_ENT` and `Z_OPT`
  /// count. Throws `.invalidStore`.
  package func checkColumnCounts(_ dialect: Dialect) throws {
    for table in tables {
      let count = table.columns.count + 3
      guard count > dialect.greatestColumnCount else { continue }
      let entity = entities.compactMap { $0 }.first { $0.table == table.name }?.entity
      let name = entity?.name ?? table.name
      let kin = entity?.hasSubentities == true ? " with its subentities, which share a table," : ""
      throw GraphError(
        .invalidStore,
        message:
          "\(name)\(kin) takes \(count) columns, and a \(dialect.engine) table holds \(dialect.greatestColumnCount): divide it into "
          + "several entities with to-one relationships, or keep values together in a transformable attribute",
        entity: entity?.name)
    }
  }
}
