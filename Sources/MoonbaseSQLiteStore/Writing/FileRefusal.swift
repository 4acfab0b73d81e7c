import MoonbaseGraph
package import MoonbaseModel
import MoonbaseSQL
package import MoonbaseSQLite

/// Errors for saves that constraints or triggers of the file prevent, including constraints that the model does not
/// declare.
///
/// All of them have the code `.constraintConflict`. `change` is a noun phrase such as "its deletion".
extension GraphError {
  /// A trigger or a constraint made the statement fail. The message contains SQLite's own one.
  static func refused(
    _ change: String, of id: ManagedObjectID, property: String? = nil, by error: SQLiteError
  ) -> GraphError {
    GraphError(
      .constraintConflict,
      message: "\(id): the file refuses \(change), by a trigger or a rule of its own: \(error.message)",
      entity: id.entityName, property: property, objectID: id, underlying: error)
  }

  /// A trigger or a constraint made SQLite skip the change without an error. SQLite reports no error in this case, so
  /// callers compare the number of changed rows.
  static func ignored(_ change: String, of id: ManagedObjectID, property: String? = nil) -> GraphError {
    GraphError(
      .constraintConflict,
      message:
        "\(id): the file ignores \(change), by a trigger or a rule of its own (RAISE(IGNORE), ON CONFLICT IGNORE); "
        + "nothing was saved: change that trigger or rule, or leave the object as it was",
      entity: id.entityName, property: property, objectID: id)
  }

  /// A trigger or a constraint made a statement fail that belongs to no object. For example, a row of the history.
  static func refused(_ change: String, in path: String, by error: SQLiteError) -> GraphError {
    GraphError(
      .constraintConflict,
      message: "\(path): the file refuses \(change), by a trigger or a rule of its own: \(error.message)",
      underlying: error)
  }

  /// A trigger or a constraint made SQLite skip a change that belongs to no object. For example, the metadata.
  static func ignored(_ change: String, in path: String) -> GraphError {
    GraphError(
      .constraintConflict,
      message:
        "\(path): the file ignores \(change), by a trigger or a rule of its own (RAISE(IGNORE), ON CONFLICT IGNORE); "
        + "nothing was saved: change that trigger or rule")
  }
}

/// Thrown when a unique value of a row is taken.
///
/// Ends a save as a conflict (`SaveTransaction.run`), not as an error.
struct TakenValues: Error {
  /// The object that could not be saved, and the one that has the values.
  let conflict: SaveConflict
}

/// Explanations of constraint errors.
extension SaveTransaction {
  /// Returns the error for the constraint that a row violates. `TakenValues` for a unique value, otherwise a
  /// `GraphError`.
  func describe(_ error: SQLiteError, saving row: Snapshot) -> any Error {
    let id = row.id
    switch error.code {
    case .uniqueConstraint: return uniqueConflict(row, after: error)
    case .primaryKeyConstraint:
      return GraphError(
        .mergeConflict,
        message:
          "\(id): its primary key is taken by another row; nothing was saved. If nobody else saved meanwhile, the greatest key "
          + "(Z_MAX) in Z_PRIMARYKEY is too small: set it to the greatest Z_PK", entity: id.entityName, objectID: id,
        underlying: error)
    default: return GraphError.refused("the row", of: id, by: error)
    }
  }

  /// The conflict over a unique value, with the object that has the value if SQLite's message names the columns. After
  /// a rollback by a trigger the other object is not searched.
  private func uniqueConflict(_ row: Snapshot, after error: SQLiteError) -> any Error {
    do {
      let entity = try layout.layout(of: row.id)
      let slots = entity.slots(named: error)
      let names = slots.map { entity.entity.properties[$0].name }
      let other = slots.isEmpty || !connection.isInTransaction ? nil : try object(like: row, in: slots, of: entity)
      return TakenValues(conflict: SaveConflict(row.id, .sameValues(properties: names, as: other)))
    } catch {
      return error
    }
  }

  /// Nil if no row has all of these values, or if a composite is among them.
  private func object(like row: Snapshot, in slots: [Slot], of entity: EntityLayout) throws -> ManagedObjectID? {
    let columns = slots.flatMap { entity.slots[$0].columns }
    // For a composite it is not known which elements are taken.
    guard columns.count == slots.count else { return nil }
    let conditions = columns.enumerated().map { "\(identifier($1)) = ?\($0 + 1)" }.joined(separator: " AND ")
    let statement = try connection.statement(
      "SELECT Z_PK, Z_ENT FROM \(identifier(entity.table)) WHERE \(conditions) LIMIT 1")
    for (index, slot) in slots.enumerated() { SQLValue.bind(row.cell(slot), at: Int32(index + 1), to: statement) }
    defer { statement.reset() }
    guard try statement.step(), let found = layout.entity(number: statement.integer(1))?.entity else { return nil }
    return ManagedObjectID(
      store: StoreNumber(rawValue: row.id.storeNumber), entity: found.symbol, key: statement.integer(0))
  }
}

/// The properties in an error message.
extension EntityLayout {
  /// The properties whose columns a message of SQLite names: `UNIQUE constraint failed: ZPERSON.ZEMAIL, ZPERSON.ZNAME`.
  /// Tables are ignored: the message is about this entity.
  package func slots(named error: SQLiteError) -> [Slot] {
    let named = error.message.split(separator: ":").last ?? ""
    let columns = named.split(separator: ",").map { $0.split(separator: ".").last.map(String.init) ?? "" }
    return slots.indices.filter { slots[$0].columns.contains(where: columns.contains) }
  }
}

extension SlotLayout {
  /// The columns of a value in the entity's own table. Empty for values in other tables.
  fileprivate var columns: [String] {
    switch self {
    case .attribute(let column, _): [column]
    case .composite(let composite): composite.leaves.map(\.column)
    case .toOne(let place): [place.column]
    default: []
    }
  }
}
