import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Writes rows of one entity: the statements, and the binding of values by slot. A class, so that passing a writer on
/// for every row copies nothing.
///
/// Made once per entity and save (`SaveTransaction.writer`) and confined to the save's thread. The parameters of a
/// statement follow the order of `statements.columns`.
final class RowWriter {
  /// The binding of a slot. Contains no references, because every value of every row uses a step.
  fileprivate struct Step {
    /// How a value is bound, by the kind of its column.
    enum Binding {
      /// A value as it is, a large value, a key, a key with an entity number, or several elements.
      case plain, external, toOne, polymorphic, composite
    }

    /// The slot of the property.
    var slot: Slot
    /// Decided once for the column.
    var binding: Binding

    /// A to-one relationship with a column of entity numbers is polymorphic.
    init(_ column: RowStatements.Column) {
      slot = column.slot
      binding =
        column.composite != nil
        ? .composite
        : column.isExternal
          ? .external : column.toOne == nil ? .plain : column.toOne?.entityColumn == nil ? .toOne : .polymorphic
    }
  }

  /// The SQL for the entity.
  let statements: RowStatements
  /// The bindings in the order of the columns.
  private let steps: ContiguousArray<Step>
  /// The composites, by slot.
  private let composites: [Slot: CompositeLayout]
  /// All tables, for entity numbers of destinations.
  private let store: StoreLayout
  /// The folder of large values.
  private let externalData: ExternalData
  /// The number in `Z_ENT`.
  private let number: Int64
  /// Whether values of the entity may be in files.
  let hasExternalData: Bool
  /// The columns with the row's places in ordered lists, by the to-one relationships to the lists' owners.
  private let orders: [(slot: Slot, column: OrderEnds.Column)]
  /// The to-one relationships whose destination may be the row itself.
  private let loops: [(slot: Slot, toOne: ToOneLayout)]

  /// Throws for an entity whose columns the file lacks.
  init(_ layout: EntityLayout, store: StoreLayout, externalData: ExternalData) throws {
    statements = try RowStatements(layout, dialect: .sqlite)
    self.store = store
    self.externalData = externalData
    steps = ContiguousArray(statements.columns.map(Step.init))
    composites = Dictionary(
      uniqueKeysWithValues: statements.columns.compactMap { column in column.composite.map { (column.slot, $0) } })
    number = layout.number
    orders = statements.columns.compactMap { column in
      column.toOne?.orderColumn.map { (column.slot, OrderEnds.Column(table: layout.table, name: $0)) }
    }
    hasExternalData = statements.columns.contains(where: \.isExternal)
    loops = statements.columns.compactMap { column in
      guard let toOne = column.toOne, store.entities[toOne.destination]?.table == layout.table else { return nil }
      return (column.slot, toOne)
    }
  }

  /// The layout of the entity.
  var layout: EntityLayout { statements.layout }

  /// Runs the insertion and returns whether the row was inserted. The next use overwrites all parameters of the
  /// statement. `files` notes created files. Returns false if a trigger ignored the row.
  func insert(
    _ row: Snapshot, with statement: Statement, on connection: Connection, files: inout ExternalFiles
  ) throws -> Bool {
    statement.bind(row.id.key, at: 1)
    statement.bind(number, at: 2)
    statement.bind(row.version, at: 3)
    var (index, large): (Int32, [LargeBinding]) = (4, [])
    let own = loops.isEmpty ? [] : loops.filter { row.cell($0.slot).leads(to: row.id) }
    for step in steps {
      let cell = own.contains { $0.slot == step.slot } ? .null : row.cell(step.slot)
      try bind(cell, step: step, at: &index, to: statement, files: &files, large: &large)
    }
    defer { statement.rewind() }
    try withExtendedLifetime(row) { try LargeBinding.step(statement, with: large[...]) }
    guard connection.changes > 0 else { return false }
    for loop in own { try close(loop.toOne, of: row.id, on: connection) }
    return true
  }

  /// Sets a row as its own destination after the insertion. Core Data's triggers count the rows that refer to a new row
  /// and the rows that a new row refers to: within the insertion they would count this row twice. Only for
  /// relationships within one table.
  private func close(_ toOne: ToOneLayout, of id: ManagedObjectID, on connection: Connection) throws {
    let columns = [toOne.column: id.key].merging(toOne.entityColumn.map { [$0: number] } ?? [:]) { first, _ in first }
    let settings = columns.map { "\(identifier($0.key)) = \($0.value)" }.joined(separator: ", ")
    try connection.execute("UPDATE \(identifier(layout.table)) SET \(settings) WHERE Z_PK = \(id.key)")
  }

  /// Runs an update and returns whether the row exists. Without an expected version, any version is updated. Returns
  /// false also for a row of another version.
  func update(
    _ change: StoreChanges.Update, with statement: Statement, on connection: Connection, files: inout ExternalFiles
  ) throws -> Bool {
    var (index, large): (Int32, [LargeBinding]) = (1, [])
    for step in steps where change.changedSlots.contains(step.slot) {
      try bind(change.snapshot.cell(step.slot), step: step, at: &index, to: statement, files: &files, large: &large)
    }
    if let expected = change.expectedVersion {
      statement.bind(change.snapshot.version, at: index)
      statement.bind(change.snapshot.id.key, at: index + 1)
      statement.bind(expected, at: index + 2)
    } else {
      statement.bind(change.snapshot.id.key, at: index)
    }
    defer { statement.rewind() }
    try withExtendedLifetime(change) { try LargeBinding.step(statement, with: large[...]) }
    return connection.changes > 0
  }

  /// Binds one slot and advances `index`. Large texts and blobs are collected in `large`. Throws the error of a damaged
  /// value that the object was given.
  @inline(__always)
  private func bind(
    _ cell: Snapshot.Cell, step: Step, at index: inout Int32, to statement: Statement,
    files: inout ExternalFiles, large: inout [LargeBinding]
  ) throws {
    switch (step.binding, cell) {
    case (.plain, .value(let value)) where LargeBinding.isLarge(value):
      large.append(LargeBinding(value: value, index: index))
    case (.plain, .value(.object(let token))), (.toOne, .value(.object(let token))):
      // No column can hold a token. Loading it reports the error that it stands for.
      _ = try token.load?()
      statement.bindNull(index)
    case (.plain, _), (.toOne, _): SQLValue.bind(cell, at: index, to: statement)
    case (.external, .data(let bytes)):
      statement.bind(try externalData.write(Data(bytes), files: &files), at: index)
    case (.external, .value(.data(let data))):
      statement.bind(try externalData.write(data, files: &files), at: index)
    case (.external, .value(.object(let token))):
      // A row copied from another store, with data that was not loaded yet.
      guard let load = token.load else { return statement.bindNull(index) }
      statement.bind(try externalData.write(load(), files: &files), at: index)
    case (.external, _): statement.bindNull(index)
    case (.composite, _): return try bind(elements: cell, of: step.slot, at: &index, to: statement)
    case (.polymorphic, .value(.object(let token))):
      _ = try token.load?()
      statement.bindNull(index)
      index += 1
      statement.bindNull(index)
    case (.polymorphic, .reference(let id)): try bind(id, at: &index, to: statement)
    case (.polymorphic, .value(.objectID(let id))): try bind(id, at: &index, to: statement)
    case (.polymorphic, _):
      statement.bindNull(index)
      index += 1
      statement.bindNull(index)
    }
    index += 1
  }

  /// Each leaf has a parameter; a missing composite gives NULL everywhere.
  private func bind(
    elements cell: Snapshot.Cell, of slot: Slot, at index: inout Int32, to statement: Statement
  ) throws {
    let value = cell.asValue
    if case .object(let token) = value { _ = try token.load?() }
    for leaf in composites[slot]?.leaves ?? [] {
      SQLValue.bind(value.element(at: leaf.path), at: index, to: statement)
      index += 1
    }
  }

  /// Two parameters: the key and the entity number.
  private func bind(_ id: ManagedObjectID, at index: inout Int32, to statement: Statement) throws {
    statement.bind(id.key, at: index)
    index += 1
    statement.bind(try store.layout(of: id).number, at: index)
  }

  // MARK: Ordered lists

  /// Notes the ordered lists that get the row as a member, by all or some of its to-one relationships. Only lists whose
  /// last position is known matter (`OrderEnds`).
  func noteOwners(of row: Snapshot, slots: [Slot]? = nil, in ends: OrderEnds) {
    for (slot, column) in orders where slots?.contains(slot) ?? true {
      if case .objectID(let owner) = row.values[slot] { ends.note(row.id.key, in: column, of: owner.key) }
    }
  }

  // MARK: Files of old values

  /// Notes the external files of the row's values before the row changes or is deleted. The files are removed after the
  /// commit, unless the save writes them again. A nil `slots` means all.
  func forgetFiles(of key: Int64, slots: [Slot]?, on connection: Connection, files: inout ExternalFiles) throws {
    guard let sql = statements.externals(of: slots) else { return }
    let statement = try connection.statement(sql)
    statement.bind(key, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return }
    for index in 0..<statement.columnCount { externalData.forget(statement.data(index), files: &files) }
  }
}

extension Snapshot.Cell {
  /// Whether the cell refers to this object. False for other kinds of values.
  fileprivate func leads(to id: ManagedObjectID) -> Bool {
    switch self {
    case .reference(let other), .value(.objectID(let other)): other == id
    default: false
    }
  }
}
