public import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

import enum MoonbaseModel.Expression

extension SQLiteStore {
  /// Sets constants, and what expressions make of columns of the row; deletes rows to which nothing leads and which leave nothing behind: by
  /// one statement each, without a row here.
  ///
  /// Everything else is left to the graph: values that transformers make, bytes in files of their own, unique values, delete rules that
  /// reach other rows, tables with triggers, and what the file refuses, which is told then.
  public func execute(_ request: StoreBatchRequest) throws -> StoreBatchResult? {
    guard let batch = try BatchStatement(request, in: self) else { return nil }
    var isRefused = false
    do {
      return try writeTransaction { session in
        do {
          return try batch.run(in: session, of: self).telling(of: try derive(in: session))
        } catch let refusal as BatchRefusal {
          isRefused = true
          throw refusal
        } catch let error as SQLiteError where error.code.primary == .constraint || error.isLimit {
          isRefused = true
          throw error
        }
      }
    } catch {
      if isRefused { return nil }
      throw error
    }
  }
}

/// A batch request in SQL.
private struct BatchStatement {
  /// A column and what it is to have.
  private struct Assignment {
    let slot: Slot
    let column: String
    /// Nil for a constant.
    let function: BatchFunction?
    let value: SQLFragment
  }

  private let request: StoreBatchRequest
  private let select: PreparedSelect
  private let kinds: [EntityLayout]
  private let table: String
  /// Of an update.
  private let assignments: [Assignment]

  /// Nil for what SQL does not do exactly as the graph would.
  init?(_ request: StoreBatchRequest, in store: SQLiteStore) throws {
    let query = request.query
    self.request = request
    select = try store.select(query)
    var kinds: [EntityLayout] = []
    for index in query.entity.indexes(includingSubentities: query.includesSubentities) {
      let entity = store.layout.model.entities[index]
      guard !entity.isAbstract else { continue }
      guard let layout = store.layout.entities[index] else { return nil }
      kinds.append(layout)
    }
    guard let first = kinds.first else { return nil }
    (self.kinds, table) = (kinds, first.table)
    switch request.kind {
    case .update(let expressions):
      guard let assignments = try Self.assignments(expressions, of: kinds, in: store.layout.model) else { return nil }
      self.assignments = assignments
    case .delete:
      guard Self.areLeaves(kinds, in: store.layout) else { return nil }
      assignments = []
    }
  }

  private static func assignments(
    _ expressions: [Slot: Expression], of kinds: [EntityLayout], in model: ResolvedModel
  ) throws -> [Assignment]? {
    var assignments: [Assignment] = []
    for (slot, expression) in expressions.sorted(by: { $0.key < $1.key }) {
      guard let column = column(slot, of: kinds) else { return nil }
      if case .constant(let value) = expression {
        guard LargeValue.size(value) <= LargeValue.greatest, isExact(value) else { return nil }
        assignments.append(
          Assignment(slot: slot, column: column, function: nil, value: SQLFragment("?", values: [value])))
        continue
      }
      guard let function = try BatchFunction(expression, slot: slot, of: kinds[0], in: model),
        function.inputSlots.allSatisfy({ Self.column($0, of: kinds, isWritten: false) != nil })
      else { return nil }
      assignments.append(
        Assignment(slot: slot, column: column, function: function, value: SQLFragment(function.sql)))
    }
    return assignments
  }

  /// The column in which an attribute of all entities lies as it is; nil where there is none.
  private static func column(_ slot: Slot, of kinds: [EntityLayout], isWritten: Bool = true) -> String? {
    var column: String?
    for kind in kinds {
      guard case .attribute(let name, let form) = kind.slots[slot], column == nil || column == name,
        kind.entity.properties[slot].attribute?.type != .transformable
      else { return nil }
      switch form {
      case .externalData, .decimal: return nil
      default: column = name
      }
      if isWritten, kind.entity.uniquenessConstraints.contains(where: { $0.contains(slot) }) { return nil }
    }
    return column
  }

  /// Whether SQL tells by equality that a column has a value.
  private static func isExact(_ value: Value) -> Bool {
    switch value {
    // SQL has one zero, and the graph two.
    case .double(let number): number.isFinite && number != 0
    case .list, .map, .object, .objectID, .decimal: false
    default: true
    }
  }

  /// Whether rows may go without any other one being touched: what they lead to is told of it by their own rows, and nothing else leads to
  /// them.
  private static func areLeaves(_ kinds: [EntityLayout], in layout: StoreLayout) -> Bool {
    let model = layout.model
    guard let root = kinds.first?.entity.root else { return false }
    for kind in kinds {
      for (slot, place) in kind.slots.enumerated() {
        let property = kind.entity.properties[slot]
        switch place {
        case .none, .attribute: break
        case .toOne:
          guard let relationship = property.relationship, isSilent(relationship.description.deleteRule) else {
            return false
          }
          // The other side of a pair has a key of its own.
          if let inverse = relationship.inverseSlot {
            guard model.destination(of: relationship).properties[inverse].relationship?.isToMany == true else {
              return false
            }
          }
        case .foreignKey, .join, .lost: return false
        }
        if case .attribute(_, .externalData) = place { return false }
      }
    }
    return model.entities.allSatisfy { entity in
      entity.properties.allSatisfy { property in
        guard let relationship = property.relationship, relationship.inverseSlot == nil, !property.isTransient else {
          return true
        }
        return model.destination(of: relationship).root != root
      }
    }
  }

  private static func isSilent(_ rule: DeleteRule) -> Bool { rule == .nullify || rule == .noAction }

  // MARK: Running

  func run(in session: Session, of store: SQLiteStore) throws -> StoreBatchResult {
    try refuseTriggers(on: session.connection)
    let query = request.query
    let found = try session.running(select.keys(query), for: query) { statement in
      try select.plan.collectIDs(statement, upTo: .max).ids
    }
    var memory = HostMemory()
    try memory.hold(found.count &* 64)
    let ids = Array(found)
    guard !ids.isEmpty else { return StoreBatchResult(objectIDs: [], changes: SavedObjectIDs()) }
    session.connection.allowTriggers(forRows: ids.count)
    guard case .delete = request.kind else { return try update(ids, in: session, of: store) }
    try history(of: session, store)?.write(deleted: ids, contextName: request.contextName)
    let deleted = try session.running(deletion, for: query) { try select.plan.collectIDs($0, upTo: .max).ids }
    guard deleted.count == ids.count else { throw BatchRefusal() }
    return StoreBatchResult(objectIDs: ids, changes: SavedObjectIDs(deleted: ids))
  }

  private func update(
    _ ids: [ManagedObjectID], in session: Session, of store: SQLiteStore
  ) throws -> StoreBatchResult {
    for assignment in assignments { try assignment.function?.register(on: session.connection) }
    let history = try history(of: session, store)
    let slots = try history == nil ? [:] : changedSlots(in: session)
    let changed = try session.running(update, for: request.query) { statement in
      Array(try select.plan.collectIDs(statement, upTo: .max).ids)
    }
    let all = Set(assignments.map(\.slot))
    try history?.write(updated: changed.map { ($0, slots[$0] ?? all) }, contextName: request.contextName)
    return StoreBatchResult(objectIDs: ids, changes: SavedObjectIDs(updated: changed))
  }

  /// What is about to change of each row, where that is not the same of all: the history names no property that keeps its value.
  private func changedSlots(in session: Session) throws -> [ManagedObjectID: Set<Slot>] {
    guard assignments.count > 1 else { return [:] }
    var slots: [ManagedObjectID: Set<Slot>] = [:]
    for assignment in assignments {
      let differing = try session.running(rows(differingIn: assignment), for: request.query) { statement in
        try select.plan.collectIDs(statement, upTo: .max).ids
      }
      for id in Array(differing) { slots[id, default: []].insert(assignment.slot) }
    }
    return slots
  }

  /// What a trigger does nobody here knows.
  private func refuseTriggers(on connection: Connection) throws {
    let statement = try connection.statement(
      "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE LIMIT 1")
    statement.bind(table, at: 1)
    defer { statement.reset() }
    if try statement.step() { throw BatchRefusal() }
  }

  private func history(of session: Session, _ store: SQLiteStore) throws -> HistoryWriter? {
    try session.historyForm(path: store.file.path).map {
      HistoryWriter(
        layout: store.layout, connection: session.connection, path: store.file.path, author: store.author(of: request),
        form: $0)
    }
  }

  // MARK: Statements

  private var keys: String { select.plan.isSingle ? "Z_PK" : "Z_PK, Z_ENT" }

  private func rows(differingIn assignment: Assignment) -> SQLFragment {
    "SELECT \(keys) FROM \(identifier(table)) WHERE Z_PK IN (" + select.keysAlone(request.query)
      + ") AND \(identifier(assignment.column)) IS NOT " + assignment.value
  }

  private var update: SQLFragment {
    let changes = assignments.map { "\(identifier($0.column)) = " + $0.value }
    let differences = assignments.map { "\(identifier($0.column)) IS NOT " + $0.value }
    return "UPDATE OR ABORT \(identifier(table)) SET " + changes.joined(", ")
      + ", Z_OPT = COALESCE(Z_OPT, 0) + 1 WHERE Z_PK IN (" + select.keysAlone(request.query) + ") AND ("
      + differences.joined(" OR ") + ") RETURNING \(keys)"
  }

  private var deletion: SQLFragment {
    "DELETE FROM \(identifier(table)) WHERE Z_PK IN (" + select.keysAlone(request.query) + ") RETURNING \(keys)"
  }
}

extension StoreBatchResult {
  /// The same, with objects whose values followed.
  fileprivate func telling(of derived: [ManagedObjectID]) -> StoreBatchResult {
    if derived.isEmpty { return self }
    let gone = Set(changes.deleted)
    let updated = Set(changes.updated).union(derived).subtracting(gone)
    return StoreBatchResult(
      objectIDs: objectIDs,
      changes: SavedObjectIDs(updated: updated.sorted { $0.key < $1.key }, deleted: changes.deleted))
  }
}

extension SQLiteStore {
  /// The name that the change bears in the history.
  fileprivate func author(of request: StoreBatchRequest) -> String? { request.author ?? options.transactionAuthor }
}
