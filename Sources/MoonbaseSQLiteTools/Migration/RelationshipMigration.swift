import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Fills relationships that rows do not contain: link tables, and to-one columns that were stored in another way.
///
/// Runs after `RowMigration` has copied all rows, because a link is written only if both of its rows exist. Links of
/// removed objects are therefore dropped.
struct RelationshipMigration {
  /// The old and new entities.
  let map: MigrationMap
  /// The connection of the migration's transaction.
  let connection: Connection
  /// The tables of the new file that already have their rows and links.
  let kept: Set<String>

  /// Fills all relationships. A link table takes a single statement, a to-one column three.
  func run() throws {
    for (entity, property) in map.new.keptProperties {
      switch entity.slots[property.slot] {
      case .toOne(let toOne): try fill(toOne, property: property, of: entity)
      case .join(let join) where isNamedHere(join): try fill(join, property: property, of: entity)
      case .none, .attribute, .composite, .foreignKey, .join, .lost: break
      }
    }
  }

  /// Whether the layout lists the link table from this side. Each pair table is filled from one side only.
  private func isNamedHere(_ join: JoinLayout) -> Bool {
    map.new.joins.contains { $0.table == join.table && $0.ownerColumn == join.ownerColumn }
  }

  // MARK: Tables of pairs

  /// Fills a link table. Does nothing for a table that stays, and for a relationship without an origin.
  private func fill(_ join: JoinLayout, property: ResolvedProperty, of entity: EntityLayout) throws {
    guard !kept.contains(join.table), let pairs = map.pairs(of: property, in: entity) else { return }
    let inverse = map.new.inverse(of: property)
    var columns = [identifier(join.ownerColumn), identifier(join.destinationColumn)]
    var values = ["owner", "member"]
    if let column = join.orderColumn {
      columns.append(identifier(column))
      values.append(place("place", of: "member", by: "owner"))
    }
    if let inverse, !join.isReflexive, case .join(let side) = inverse.entity.slots[inverse.property.slot],
      let column = side.orderColumn
    {
      columns.append(identifier(column))
      values.append(place("inverse", of: "owner", by: "member"))
    }
    let all = join.isReflexive ? OldPairs.union([pairs, pairs.reversed]) ?? pairs : pairs
    // A relationship that is its own inverse stores each link in both directions.
    try connection.execute(
      "INSERT OR IGNORE INTO \(identifier(join.table)) (\(columns.joined(separator: ", "))) "
        + "SELECT \(values.joined(separator: ", ")) FROM (\(all.sql)) WHERE \(present("owner", of: entity)) "
        + "AND \(present("member", of: map.new.entities[join.destination]))")
  }

  /// The existing position of a member, or a new position for members without one. `column` is `place` or `inverse`.
  /// New positions are multiples of `OrderKeys.gap` in the order of the members' keys.
  private func place(_ column: String, of member: String, by owner: String) -> String {
    "IFNULL(\(column), \(OrderKeys.gap) * (ROW_NUMBER() OVER (PARTITION BY \(owner) ORDER BY \(member))))"
  }

  /// The SQL condition that a key has a row of an entity. Rows of subentities count. `1` for an entity that the store
  /// does not hold.
  private func present(_ key: String, of entity: EntityLayout?) -> String {
    guard let entity else { return "1" }
    let numbers = map.new.subtree(of: entity.entity).map { "\($0.number)" }.joined(separator: ", ")
    return "\(key) IN (SELECT Z_PK FROM \(identifier(entity.table)) WHERE Z_ENT IN (\(numbers)))"
  }

  // MARK: Destinations

  /// Fills a to-one column, and the positions of an ordered inverse. The links are first collected in a temporary table
  /// with a unique owner (in a one-to-one relationship also with a unique member). A link that would give an object a
  /// second destination is thereby ignored.
  private func fill(_ toOne: ToOneLayout, property: ResolvedProperty, of entity: EntityLayout) throws {
    let movers = map.entities.filter { $0.new.entity.isKind(of: entity.entity) }
    guard !kept.contains(entity.table), movers.contains(where: { map.isCopied(property, of: $0) == nil }),
      let pairs = map.pairs(of: property, in: entity)
    else { return }
    // Objects whose destinations were copied keep them.
    let copied = movers.filter { map.isCopied(property, of: $0) != nil }.map { "\($0.new.number)" }
    let inverse = map.new.inverse(of: property)
    let isPair = inverse?.property.relationship?.isToMany == false
    // Both sides of a one-to-one relationship use the same links, as seen from the entity that comes first.
    let isFirst =
      !isPair || inverse.map { (entity.number, property.name) <= ($0.entity.number, $0.property.name) } ?? true
    let seen = isFirst ? pairs : pairs.reversed
    try connection.executeScript(
      "CREATE TEMP TABLE moonbase_pairs (owner INTEGER PRIMARY KEY, member INTEGER\(isPair ? " UNIQUE" : ""), place INTEGER)"
    )
    defer { try? connection.executeScript("DROP TABLE temp.moonbase_pairs") }
    let destination = map.new.entities[toOne.destination]
    let ends = isFirst ? (entity, destination) : (destination ?? entity, Optional(entity))
    try connection.execute(
      "INSERT OR IGNORE INTO temp.moonbase_pairs SELECT owner, member, inverse FROM (\(seen.sql)) "
        + "WHERE \(present("owner", of: ends.0)) AND \(present("member", of: ends.1)) ORDER BY owner, place, member")
    let (own, other) = isFirst ? ("owner", "member") : ("member", "owner")
    var settings = ["\(identifier(toOne.column)) = p.\(other)"]
    if let column = toOne.entityColumn, let table = destination?.table {
      settings.append(
        "\(identifier(column)) = (SELECT d.Z_ENT FROM \(identifier(table)) d WHERE d.Z_PK = p.\(other))")
    }
    if let column = toOne.orderColumn {
      settings.append("\(identifier(column)) = IFNULL(p.place, \(OrderKeys.gap) * p.owner)")
    }
    let table = identifier(entity.table)
    let condition = copied.isEmpty ? "" : " AND \(table).Z_ENT NOT IN (\(copied.joined(separator: ", ")))"
    try connection.execute(
      "UPDATE \(table) SET \(settings.joined(separator: ", ")) FROM temp.moonbase_pairs p "
        + "WHERE p.\(own) = \(table).Z_PK\(condition)")
  }
}
