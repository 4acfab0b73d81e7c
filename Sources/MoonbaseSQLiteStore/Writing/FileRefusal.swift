import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// What the file itself keeps from being saved, by its constraints and triggers. Some of these its model does not speak of.
extension GraphError {
  /// A trigger or a rule made SQLite fail.
  static func refused(
    _ change: String, of id: ManagedObjectID, property: String? = nil, by error: SQLiteError
  ) -> GraphError {
    GraphError(
      .constraintConflict,
      message: "\(id): the file refuses \(change), by a trigger or a rule of its own: \(error.message)",
      entity: id.entityName, property: property, objectID: id, underlying: error)
  }

  /// A trigger or a rule had SQLite go on as if all were well, without the change.
  static func ignored(_ change: String, of id: ManagedObjectID, property: String? = nil) -> GraphError {
    GraphError(
      .constraintConflict,
      message:
        "\(id): the file ignores \(change), by a trigger or a rule of its own (RAISE(IGNORE), ON CONFLICT IGNORE); "
        + "nothing was saved: change that trigger or rule, or leave the object as it was",
      entity: id.entityName, property: property, objectID: id)
  }
}

extension SaveTransaction {
  /// Says which constraint an object violates.
  func describe(_ error: SQLiteError, saving id: ManagedObjectID) -> GraphError {
    switch error.code {
    case .uniqueConstraint: return uniqueConflict(id, after: error)
    case .primaryKeyConstraint:
      return GraphError(
        .mergeConflict,
        message:
          "\(id): its primary key is taken by another row; nothing was saved. If nobody else saved meanwhile, the greatest key "
          + "(Z_MAX) in Z_PRIMARYKEY is too small: set it to the greatest Z_PK", entity: id.entityName, objectID: id,
        underlying: error)
    default: return .refused("the row", of: id, by: error)
    }
  }

  private func uniqueConflict(_ id: ManagedObjectID, after error: SQLiteError) -> GraphError {
    let entity = try? layout.layout(of: id)
    let names = entity.map { entity in entity.slots(named: error).map { entity.entity.properties[$0].name } } ?? []
    let what = names.isEmpty ? "unique values" : names.joined(separator: ", ")
    return GraphError(
      .constraintConflict, message: "\(id.entityName): another object has the same \(what) as \(id)",
      entity: id.entityName,
      property: names.count == 1 ? names[0] : nil, objectID: id, underlying: error)
  }
}

extension EntityLayout {
  /// The properties whose columns SQLite names: `UNIQUE constraint failed: ZPERSON.ZEMAIL, ZPERSON.ZNAME`.
  func slots(named error: SQLiteError) -> [Slot] {
    let named = error.message.split(separator: ":").last ?? ""
    let columns = named.split(separator: ",").map { $0.split(separator: ".").last.map(String.init) ?? "" }
    return slots.indices.filter { slot in
      switch slots[slot] {
      case .attribute(let column, _): columns.contains(column)
      case .toOne(let place): columns.contains(place.column)
      default: false
      }
    }
  }
}
