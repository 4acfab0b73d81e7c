import MoonbaseModel
import MoonbaseSQLite

/// The model of a database, and the queries whose rows become objects and relationships, in order.
///
/// The plan has a step for each table, then a step for each deferred relationship, then a step for
/// each join table. `DatabaseImport` runs the steps in this order.
package struct DatabasePlan {
  /// A query whose rows are imported.
  struct Step {
    /// The name of the entity.
    let entity: String
    /// The name of the step, for the file of rejected rows.
    let name: String
    /// The query. Its rows have the same order each time, so that an import can continue.
    let sql: String
    /// The column names in the form of an import.
    let columns: [String]
    /// The indexes of the columns that are keys of other objects.
    let keys: Set<Int>
    /// The attributes by which existing objects are found; empty for new objects.
    let found: [String]
    /// The number of rows, for progress.
    let count: Int64
  }

  /// The inferred model.
  package let inferred: InferredModel
  /// The steps, in order.
  let steps: [Step]

  /// Makes the steps of a model, with the tables in this order.
  init(_ model: DatabaseModel, _ order: [TableProfile], _ connection: Connection) throws {
    inferred = model.inferred
    var steps = order.map { Self.objects(of: $0, model) }
    for link in model.links where link.isDeferred { steps.append(try Self.later(link, model, connection)) }
    for (join, name) in zip(model.joins, model.joinNames) {
      steps.append(try Self.pairs(of: join, name, model, connection))
    }
    self.steps = steps
  }

  /// All rows of a table, with the relationships to objects that exist already.
  private static func objects(of table: TableProfile, _ model: DatabaseModel) -> Step {
    let (name, entity) = (table.table.name, model.entity(table))
    var columns: [String] = []
    var parts: [String] = []
    for column in table.table.columns {
      guard let attribute = model.attribute(column.name, of: table) else { continue }
      columns.append(attribute)
      parts.append("t.\(column.name.sqlName)")
    }
    let first = columns.count
    for link in model.links(of: table) where !link.isDeferred {
      columns.append(path(link.name, link, model))
      parts.append(link.keySQL)
    }
    // A table may have only deferred relationships.
    if parts.isEmpty { parts = ["NULL"]; columns = ["_"] }
    return Step(
      entity: entity, name: entity,
      sql: "SELECT \(parts.joined(separator: ", ")) FROM \(name.sqlName) t\(table.table.order)", columns: columns,
      keys: Set(first..<max(first, columns.count)), found: [], count: Int64(table.rows))
  }

  /// The column name of a relationship by key, as `department.id`.
  private static func path(_ relationship: String, _ link: TableLink, _ model: DatabaseModel) -> String {
    let key = link.parentColumns.compactMap { model.attribute($0, of: link.parent) }
    return "\(relationship).\(key.joined(separator: ","))"
  }

  /// The relationship of a foreign key, set after all objects exist.
  private static func later(_ link: TableLink, _ model: DatabaseModel, _ connection: Connection) throws -> Step {
    let (table, entity) = (link.child.table, model.entity(link.child))
    let identity = try link.child.identity(connection) ?? []
    let found = identity.compactMap { model.attribute($0, of: link.child) }
    let list = identity.map { "t.\($0.sqlName)" }.joined(separator: ", ")
    let rows = "FROM \(table.name.sqlName) t WHERE \(link.keySQL) IS NOT NULL"
    return Step(
      entity: entity, name: "\(entity).\(link.name)", sql: "SELECT \(list), \(link.keySQL) \(rows)\(table.order)",
      columns: found + [path(link.name, link, model)], keys: [found.count], found: found,
      count: try connection.integer("SELECT COUNT(*) \(rows)") ?? 0)
  }

  /// The relationship of a join table.
  private static func pairs(
    of join: JoinTable, _ name: String, _ model: DatabaseModel, _ connection: Connection
  ) throws -> Step {
    let entity = model.entity(join.owner.parent)
    let found = join.owner.parentColumns.compactMap { model.attribute($0, of: join.owner.parent) }
    return Step(
      entity: entity, name: "\(entity).\(name)", sql: join.sql, columns: found + [path(name, join.destination, model)],
      keys: [found.count], found: found, count: try join.count(connection))
  }
}
