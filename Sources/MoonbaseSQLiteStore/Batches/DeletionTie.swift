import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL

/// A relationship of rows to delete, with the SQL for its delete rule.
///
/// A temporary table for each table (`GoingTable`) holds the keys of the rows to delete.
///
/// For example, `Department.employees` with rule cascade: the owners are departments to delete, the destinations
/// employees, whose keys the next level collects. The statements are valid in the transaction that made the temporary
/// tables.
struct DeletionTie {
  /// A side of the relationship: a table, and the columns or pairs that store the relationship there.
  struct Side {
    /// The root entity of the side's table.
    let root: EntityIndex
    /// The quoted table.
    let table: String
    /// The property of this side.
    let property: ResolvedProperty
    /// The columns or pairs.
    let place: SlotLayout
  }

  /// The rule of the owner's property.
  let rule: DeleteRule
  /// The side whose rows are deleted.
  let owner: Side
  /// The destination. Without an inverse, `inverse` is nil.
  let destination: (root: EntityIndex, table: String)
  let inverse: Side?
  /// The numbers of the entities that have the relationship. Nil for the whole table.
  private let numbers: [Int64]?

  /// Returns nil for relationships that the file does not store.
  init?(_ property: ResolvedProperty, in layout: StoreLayout) {
    let model = layout.model
    guard let relationship = property.relationship, let owner = layout.entities[property.declaringEntity],
      let destination = layout.entities[relationship.destination]
    else { return nil }
    rule = relationship.description.deleteRule
    self.owner = Side(
      root: owner.entity.root, table: identifier(owner.table), property: property, place: owner.slots[property.slot])
    self.destination = (destination.entity.root, identifier(destination.table))
    inverse = relationship.inverseSlot.map { slot in
      Side(
        root: destination.entity.root, table: identifier(destination.table),
        property: destination.entity.properties[slot], place: destination.slots[slot])
    }
    numbers = owner.entity.parent == nil ? nil : layout.subtree(of: model.entities[owner.entity.index]).map(\.number)
    switch self.owner.place {
    case .toOne, .foreignKey, .join: break
    case .none, .attribute, .composite, .lost: return nil
    }
    if let inverse, inverse.property.isTransient { return nil }
  }

  /// The keys of rows to delete that have the relationship, of all levels or of one. `level` is the depth of the
  /// cascade, 0 for the named rows.
  func owners(level: Int64? = nil) -> SQLFragment {
    var conditions: [SQLFragment] = []
    if let level { conditions.append(SQLFragment("g.level = ?", values: [.int(level)])) }
    guard let numbers else {
      return "SELECT g.key FROM \(GoingTable.name(owner.root)) g" + Self.condition(conditions)
    }
    conditions.append(SQLFragment("o.Z_ENT IN (\(numbers.map { "\($0)" }.joined(separator: ", ")))"))
    return "SELECT g.key FROM \(GoingTable.name(owner.root)) g JOIN \(owner.table) o ON o.Z_PK = g.key"
      + Self.condition(conditions)
  }

  /// A ` WHERE` clause of some conditions.
  private static func condition(_ conditions: [SQLFragment]) -> SQLFragment {
    conditions.isEmpty ? SQLFragment("") : " WHERE " + conditions.joined(" AND ")
  }

  /// The keys (`Z_PK`) of the destinations of these owners. Destinations that do not exist any more are left out.
  func destinations(of owners: SQLFragment) -> SQLFragment {
    let table = destination.table
    switch owner.place {
    case .toOne(let toOne):
      return
        "SELECT d.Z_PK FROM \(owner.table) s JOIN \(table) d ON d.Z_PK = s.\(identifier(toOne.column)) WHERE s.Z_PK IN ("
        + owners + ")"
    case .foreignKey(let toOne, _):
      return "SELECT d.Z_PK FROM \(table) d WHERE d.\(identifier(toOne.column)) IN (" + owners + ")"
    case .join(let join):
      let (source, own, other) = (
        identifier(join.table), identifier(join.ownerColumn), identifier(join.destinationColumn)
      )
      let one =
        "SELECT d.Z_PK FROM \(source) p JOIN \(table) d ON d.Z_PK = p.\(other) WHERE p.\(own) IN (" + owners + ")"
      guard join.isReflexive else { return one }
      return one
        + " UNION ALL SELECT d.Z_PK FROM \(source) p JOIN \(table) d ON d.Z_PK = p.\(own) WHERE p.\(other) IN ("
        + owners + ")"
    case .none, .attribute, .composite, .lost: return SQLFragment("SELECT NULL Z_PK WHERE FALSE")
    }
  }

  /// The query for damaged pairs: two rows of which only one refers to the other. The graph would treat the rows of a
  /// damaged pair otherwise than SQL by sets does. Nil where the file stores the relationship on one side.
  var lopsided: SQLFragment? {
    guard case .toOne(let own) = owner.place, let inverse, case .toOne(let back) = inverse.place,
      rule.concernsDestinations
    else { return nil }
    let (there, here) = ("s.\(identifier(own.column))", "d.\(identifier(back.column))")
    return "SELECT 1 FROM \(owner.table) s JOIN \(destination.table) d ON d.Z_PK = \(there) WHERE s.Z_PK IN ("
      + owners()
      + ") AND \(here) IS NOT s.Z_PK UNION ALL SELECT 1 FROM \(destination.table) d JOIN \(owner.table) s "
      + "ON s.Z_PK = \(here) WHERE \(here) IN (" + owners() + ") AND \(there) IS NOT d.Z_PK LIMIT 1"
  }

  /// Whether the destinations stay, without their reference.
  private var onlyClearsInverse: Bool { rule.clearsInverse && !rule.deletesDestinations }

  /// The columns to set to null in rows that refer to a deleted row. Nil for other rules, and where the rows of the
  /// destination hold no reference.
  var forgotten: ToOneLayout? {
    guard onlyClearsInverse, let inverse, case .toOne(let back) = inverse.place else { return nil }
    return back
  }

  /// The condition for rows `t0` whose reference is the key of a row to delete.
  func leads(by column: ToOneLayout) -> SQLFragment { "t0.\(identifier(column.column)) IN (" + owners() + ")" }

  /// The condition for rows `t0` whose lists lose a deleted member, if the history records the change for their side.
  /// The history records one side of a many-to-many relationship, and for a reflexive relationship the object with the
  /// smaller key.
  var losesMember: SQLFragment? {
    guard onlyClearsInverse, let inverse, case .join(let join) = owner.place else { return nil }
    let (source, own, other) = (
      identifier(join.table), identifier(join.ownerColumn), identifier(join.destinationColumn)
    )
    func keys(_ side: String, of key: String, _ restriction: String) -> SQLFragment {
      "SELECT p.\(side) FROM \(source) p WHERE p.\(key) IN (" + owners() + ")\(restriction)"
    }
    if join.isReflexive {
      return "t0.Z_PK IN (" + keys(other, of: own, " AND p.\(other) <= p.\(own)") + " UNION ALL "
        + keys(own, of: other, " AND p.\(own) <= p.\(other)") + ")"
    }
    return inverse.property.id < owner.property.id ? "t0.Z_PK IN (" + keys(other, of: own, "") + ")" : nil
  }

  /// The statement that deletes the pairs of the rows to delete. Nil for a relationship without a pair table.
  var unpairing: SQLFragment? {
    guard case .join(let join) = owner.place else { return nil }
    let pairs: SQLFragment =
      "DELETE FROM \(identifier(join.table)) WHERE \(identifier(join.ownerColumn)) IN (" + owners() + ")"
    return join.isReflexive ? pairs + " OR \(identifier(join.destinationColumn)) IN (" + owners() + ")" : pairs
  }

  /// The table of the relationship's pairs.
  var pairTable: String? { if case .join(let join) = owner.place { join.table } else { nil } }
}

/// A table with rows to delete, and the temporary table with their keys.
///
/// Created in the temporary schema of the writing connection at the first batch and emptied before and after each one.
struct GoingTable {
  /// The root entity of the table.
  let root: EntityIndex
  /// The table in the file.
  let table: String
  /// The entities that the rows to delete may have.
  var kinds: [EntityLayout] = []
  /// Whether the cascade may reach the table again from its own rows, so that it may have as many levels as rows.
  var isCyclic = false

  /// The name of the temporary table, by root entity.
  static func name(_ root: EntityIndex) -> String { "temp.moonbase_going_\(root)" }

  /// The name of this temporary table.
  var name: String { Self.name(root) }
  /// The query for the keys.
  var keys: String { "SELECT key FROM \(name)" }

  /// The statements that create the temporary table and empty it.
  var preparation: [String] {
    let index = "CREATE INDEX IF NOT EXISTS \(name)_level ON moonbase_going_\(root) (level)"
    return ["CREATE TABLE IF NOT EXISTS \(name) (key INTEGER PRIMARY KEY, level INTEGER)"] + (isCyclic ? [index] : [])
      + ["DELETE FROM \(name)"]
  }
}
