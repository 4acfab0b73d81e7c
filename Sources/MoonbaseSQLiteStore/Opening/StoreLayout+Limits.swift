import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL

extension StoreLayout {
  /// What SQLite is built for.
  private static let greatestColumnCount = 2000

  /// Throws where a table would have more columns than SQLite takes.
  func checkColumnCounts() throws {
    for table in tables {
      let count = table.columns.count + 3
      guard count > Self.greatestColumnCount else { continue }
      let entity = entities.compactMap { $0 }.first { $0.table == table.name }?.entity
      let name = entity?.name ?? table.name
      let kin = entity?.hasSubentities == true ? " with its subentities, which share a table," : ""
      throw GraphError(
        .invalidStore,
        message:
          "\(name)\(kin) takes \(count) columns, and a SQLite table holds \(Self.greatestColumnCount): divide it into "
          + "several entities with to-one relationships, or keep values together in a transformable attribute",
        entity: entity?.name)
    }
  }
}
