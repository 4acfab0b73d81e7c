import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Writes rows of one entity: its statements and how values are bound to them, by slot. A class, so that handing one on for
/// every row copies nothing.
final class RowWriter {
  /// A slot that has a column.
  struct Column {
    var slot: Slot
    var name: String
    /// For relationships.
    var toOne: ToOneLayout?
    var isExternal = false

    fileprivate var step: Step {
      Step(
        slot: slot,
        binding: isExternal ? .external : toOne == nil ? .plain : toOne?.entityColumn == nil ? .toOne : .polymorphic)
    }
  }

  /// What binding a value takes to know; free of references, because every value of every row passes here.
  fileprivate struct Step {
    enum Binding {
      case plain, external, toOne, polymorphic
    }

    var slot: Slot
    var binding: Binding
  }

  let layout: EntityLayout
  let columns: [Column]
  let insertSQL: String
  private let steps: ContiguousArray<Step>
  private let store: StoreLayout
  private let externalData: ExternalData

  init(_ layout: EntityLayout, store: StoreLayout, externalData: ExternalData) throws {
    if let missing = layout.missingColumns.first {
      throw GraphError(
        .storeFailure,
        message: "\(layout.entity.name): the file lacks \(missing); its rows can be read but not written",
        entity: layout.entity.name)
    }
    for case .lost(let error) in layout.slots { throw error }
    self.layout = layout
    self.store = store
    self.externalData = externalData
    columns = layout.slots.enumerated().compactMap { slot, place in
      switch place {
      case .none, .lost, .foreignKey, .join: nil
      case .attribute(let name, .externalData): Column(slot: slot, name: identifier(name), isExternal: true)
      case .attribute(let name, _): Column(slot: slot, name: identifier(name))
      case .toOne(let toOne): Column(slot: slot, name: identifier(toOne.column), toOne: toOne)
      }
    }
    steps = ContiguousArray(columns.map(\.step))
    var names = ["Z_PK", "Z_ENT", "Z_OPT"]
    for column in columns {
      names.append(column.name)
      if let entityColumn = column.toOne?.entityColumn { names.append(identifier(entityColumn)) }
    }
    insertSQL =
      "INSERT INTO \(identifier(layout.table)) (\(names.joined(separator: ", "))) VALUES (\(parameters(names.count)))"
  }

  var hasExternalData: Bool { columns.contains(where: \.isExternal) }

  /// Runs the insertion and says whether the row is there; the statement's parameters are all overwritten the next time.
  func insert(
    _ row: Snapshot, with statement: Statement, on connection: Connection, files: inout ExternalFiles
  ) throws -> Bool {
    statement.bind(row.id.key, at: 1)
    statement.bind(layout.number, at: 2)
    statement.bind(row.version, at: 3)
    var index: Int32 = 4
    for step in steps {
      try bind(row.cell(step.slot), binding: step.binding, at: &index, to: statement, files: &files)
    }
    defer { statement.rewind() }
    try withExtendedLifetime(row) { _ = try statement.step() }
    return connection.changes > 0
  }

  /// The statement that changes these slots: parameters are the values, the new version, the key and the expected version.
  ///
  /// An object that leaves an ordered relationship loses its place in it.
  func updateSQL(_ slots: [Slot], checksVersion: Bool) -> String {
    var parts: [String] = []
    for column in columns where slots.contains(column.slot) {
      parts.append("\(column.name) = ?")
      guard let toOne = column.toOne else { continue }
      if let entityColumn = toOne.entityColumn { parts.append("\(identifier(entityColumn)) = ?") }
      if let orderColumn = toOne.orderColumn { parts.append("\(identifier(orderColumn)) = NULL") }
    }
    parts.append(checksVersion ? "Z_OPT = ?" : "Z_OPT = IFNULL(Z_OPT, 0) + 1")
    return "UPDATE \(identifier(layout.table)) SET \(parts.joined(separator: ", ")) WHERE Z_PK = ?"
      + (checksVersion ? " AND IFNULL(Z_OPT, 0) = ?" : "")
  }

  /// Runs an update and says whether it found its row.
  func update(
    _ change: StoreChanges.Update, with statement: Statement, on connection: Connection, files: inout ExternalFiles
  ) throws -> Bool {
    var index: Int32 = 1
    for step in steps where change.changedSlots.contains(step.slot) {
      try bind(change.snapshot.cell(step.slot), binding: step.binding, at: &index, to: statement, files: &files)
    }
    if let expected = change.expectedVersion {
      statement.bind(change.snapshot.version, at: index)
      statement.bind(change.snapshot.id.key, at: index + 1)
      statement.bind(expected, at: index + 2)
    } else {
      statement.bind(change.snapshot.id.key, at: index)
    }
    defer { statement.rewind() }
    try withExtendedLifetime(change) { _ = try statement.step() }
    return connection.changes > 0
  }

  @inline(__always)
  private func bind(
    _ cell: Snapshot.Cell, binding: Step.Binding, at index: inout Int32, to statement: Statement,
    files: inout ExternalFiles
  ) throws {
    switch (binding, cell) {
    case (.plain, _), (.toOne, _): SQLValue.bind(cell, at: index, to: statement)
    case (.external, .data(let bytes)):
      statement.bind(try externalData.write(Data(bytes), files: &files), at: index)
    case (.external, .value(.data(let data))):
      statement.bind(try externalData.write(data, files: &files), at: index)
    case (.external, .value(.object(let token))):
      // A row of another store, copied with what it had not read yet.
      guard let load = token.load else { return statement.bindNull(index) }
      statement.bind(try externalData.write(load(), files: &files), at: index)
    case (.external, _): statement.bindNull(index)
    case (.polymorphic, .reference(let id)): try bind(id, at: &index, to: statement)
    case (.polymorphic, .value(.objectID(let id))): try bind(id, at: &index, to: statement)
    case (.polymorphic, _):
      statement.bindNull(index)
      index += 1
      statement.bindNull(index)
    }
    index += 1
  }

  private func bind(_ id: ManagedObjectID, at index: inout Int32, to statement: Statement) throws {
    statement.bind(id.key, at: index)
    index += 1
    statement.bind(try store.layout(of: id).number, at: index)
  }

  // MARK: Files of old values

  /// Notes the files that the row's external values are kept in, before the row changes or goes.
  func forgetFiles(of key: Int64, slots: [Slot]?, on connection: Connection, files: inout ExternalFiles) throws {
    let names = columns.filter { $0.isExternal && slots?.contains($0.slot) ?? true }.map(\.name)
    guard !names.isEmpty else { return }
    let statement = try connection.statement(
      "SELECT \(names.joined(separator: ", ")) FROM \(identifier(layout.table)) WHERE Z_PK = ?")
    statement.bind(key, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return }
    for index in names.indices { externalData.forget(statement.data(Int32(index)), files: &files) }
  }
}
