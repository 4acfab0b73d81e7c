import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Writes the pairs of many-to-many relationships, and the places in ordered relationships.
///
/// Used for one save. The order of calls: `removePairs` for all links, `addPairs` for all links, `finishPairs`,
/// `writeOrder` for all links. A unidirectional or one-to-many link without order needs nothing here: its rows contain
/// it.
struct LinkWriter {
  /// The tables and columns.
  let layout: StoreLayout
  /// The connection of the transaction.
  let connection: Connection
  /// The known last positions of lists.
  private let orderEnds: OrderEnds
  /// New pairs that are not written yet.
  private var batch: PairBatch

  /// Nothing is written yet.
  init(layout: StoreLayout, connection: Connection, orderEnds: OrderEnds) {
    self.layout = layout
    self.connection = connection
    self.orderEnds = orderEnds
    batch = PairBatch(connection)
  }

  /// Deletes the pairs of removed links. Throws `.constraintConflict` if the file keeps a pair.
  func removePairs(of links: StoreChanges.Links) throws {
    guard !links.removed.isEmpty, let join = try join(of: links) else { return }
    let table = PairTable(join, relationship: name(of: links))
    let statement = try connection.statement(table.statements.deletion)
    for id in links.removed {
      try remove(PairTable.Pair(owner: links.owner, destination: id), from: table, with: statement)
      if join.isReflexive {
        try remove(PairTable.Pair(owner: id, destination: links.owner), from: table, with: statement)
      }
    }
  }

  /// Writes the pairs of added links. New pairs may wait until `finishPairs`. A relationship that is its own inverse
  /// needs each pair in both directions.
  mutating func addPairs(of links: StoreChanges.Links) throws {
    guard !links.added.isEmpty, let join = try join(of: links) else { return }
    noteMembers(of: links, join: join)
    try batch.begin(join, relationship: name(of: links))
    for id in links.added {
      try batch.add(owner: links.owner, destination: id)
      if join.isReflexive { try batch.add(owner: id, destination: links.owner) }
    }
  }

  /// Notes new members of the inverse lists, for which the save gives no places. The next append to these lists then
  /// reads the members again.
  private func noteMembers(of links: StoreChanges.Links, join: JoinLayout) {
    if orderEnds.isEmpty { return }
    orderEnds.forget(table: join.table, but: join.isReflexive ? nil : join.orderColumn)
    guard let column = join.orderColumn else { return }
    for id in links.added {
      orderEnds.note(id.key, in: OrderEnds.Column(table: join.table, name: column), of: links.owner.key)
    }
  }

  /// Nil for links that are stored in rows. Throws for a relationship that the file lacks.
  private func join(of links: StoreChanges.Links) throws -> JoinLayout? {
    switch try layout.layout(of: links.owner).slots[links.slot] {
    case .join(let join): return join
    case .lost(let error): throw error
    default: return nil
    }
  }

  /// The name of the relationship, for messages.
  private func name(of links: StoreChanges.Links) -> String {
    layout.model.entity(of: links.owner)?.properties[links.slot].name ?? ""
  }

  /// Writes the pairs that still wait.
  mutating func finishPairs() throws { try batch.write() }

  /// Writes the positions of ordered links. Throws `.constraintConflict` and `.invalidStore`.
  func writeOrder(of links: StoreChanges.Links) throws {
    do {
      try writePlaces(of: links)
    } catch let error as SQLiteError where error.code.primary == .constraint {
      throw GraphError.refused(
        "the order of \(name(of: links))", of: links.owner, property: name(of: links), by: error)
    }
  }

  /// Does nothing for links without an order.
  private func writePlaces(of links: StoreChanges.Links) throws {
    guard let order = links.order else { return }
    switch try layout.layout(of: links.owner).slots[links.slot] {
    case .join(let join):
      guard let column = join.orderColumn else { throw lacksPlaces(links) }
      try write(order, of: links.owner, in: OrderColumn(join: join, column: column, on: connection, ends: orderEnds))
    case .foreignKey(let toOne, let destination):
      guard let column = toOne.orderColumn else { throw lacksPlaces(links) }
      let table = try layout.layout(layout.model.entities[destination]).table
      try write(
        order, of: links.owner,
        in: OrderColumn(toOne: toOne, table: table, column: column, on: connection, ends: orderEnds))
    case .none, .lost, .attribute, .composite, .toOne: break
    }
  }

  /// The error for a file that differs from its model. The code is `.invalidStore`.
  private func lacksPlaces(_ links: StoreChanges.Links) -> GraphError {
    let name = name(of: links)
    return GraphError(
      .invalidStore,
      message:
        "\(links.owner): the file has no column for the places of \(name), so its order cannot be saved; nothing was saved",
      entity: links.owner.entityName, property: name, objectID: links.owner)
  }

  /// Writes only positions that change (`PlaceWriter`).
  private func write(_ order: StoreChanges.Order, of owner: ManagedObjectID, in column: OrderColumn) throws {
    try PlaceWriter(owner, order: order, column: column).write()
  }

  /// Checks that the pair is gone, since a trigger may ignore the statement.
  private func remove(_ pair: PairTable.Pair, from table: PairTable, with statement: Statement) throws {
    statement.bind(pair.owner.key, at: 1)
    statement.bind(pair.destination.key, at: 2)
    do {
      defer { statement.reset() }
      while try statement.step() {}
    } catch let error as SQLiteError where error.code.primary == .constraint {
      throw table.refused([pair], gone: true, of: pair.owner, by: error)
    }
    if connection.changes == 0 { try table.check([pair], gone: true, on: connection) }
  }
}
