import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLite

/// Writes pairs of many-to-many relationships, and the order of ordered ones.
struct LinkWriter {
  let layout: StoreLayout
  let connection: Connection
  private var batch: PairBatch

  init(layout: StoreLayout, connection: Connection) {
    self.layout = layout
    self.connection = connection
    batch = PairBatch(connection)
  }

  /// Writes what came and what went; new pairs may wait until `finishPairs`.
  mutating func writePairs(of links: StoreChanges.Links) throws {
    guard case .join(let join) = try layout.layout(of: links.owner).slots[links.slot] else { return }
    try remove(links, from: join)
    try add(links, to: join)
  }

  mutating func finishPairs() throws { try batch.write() }

  func writeOrder(of links: StoreChanges.Links) throws {
    guard let order = links.order else { return }
    switch try layout.layout(of: links.owner).slots[links.slot] {
    case .join(let join):
      guard let column = join.orderColumn else { return }
      try arrange(links.owner, order: order, places: OrderedPlaces(join: join, column: column))
    case .foreignKey(let toOne, let destination):
      guard let column = toOne.orderColumn else { return }
      let table = try layout.layout(layout.model.entities[destination]).table
      try arrange(links.owner, order: order, places: OrderedPlaces(toOne: toOne, table: table, column: column))
    case .none, .attribute, .toOne: break
    }
  }

  private mutating func remove(_ links: StoreChanges.Links, from join: JoinLayout) throws {
    guard !links.removed.isEmpty else { return }
    try batch.write()
    let columns = [join.ownerColumn, join.destinationColumn].map(identifier)
    let sql = "DELETE FROM \(identifier(join.table)) WHERE \(columns[0]) = ? AND \(columns[1]) = ?"
    let statement = try connection.statement(sql)
    defer { statement.reset() }
    for id in links.removed {
      try run(statement, first: links.owner.key, second: id.key)
      if join.isReflexive { try run(statement, first: id.key, second: links.owner.key) }
    }
  }

  private func run(_ statement: Statement, first: Int64, second: Int64) throws {
    statement.bind(first, at: 1)
    statement.bind(second, at: 2)
    while try statement.step() {}
    statement.resetKeepingParameters()
  }

  private mutating func add(_ links: StoreChanges.Links, to join: JoinLayout) throws {
    guard !links.added.isEmpty else { return }
    try batch.begin(join)
    for id in links.added {
      try batch.add(owner: links.owner.key, destination: id.key)
      if join.isReflexive { try batch.add(owner: id.key, destination: links.owner.key) }
    }
  }

  // MARK: Order

  /// Gives the destinations places that ascend in their order, and touches as few rows as it can.
  private func arrange(_ owner: ManagedObjectID, order: [ManagedObjectID], places: OrderedPlaces) throws {
    let known = try places.read(owner.key, on: connection)
    let old = order.map { known[$0.key] ?? nil }
    let new = OrderKeys.ascending(old)
    let statement = try connection.statement(places.updateSQL)
    for (id, (before, place)) in zip(order, zip(old, new)) where before != place {
      statement.bind(place, at: 1)
      statement.bind(owner.key, at: 2)
      statement.bind(id.key, at: 3)
      try statement.step()
      statement.resetKeepingParameters()
    }
    statement.reset()
  }
}

/// Where the places of an ordered relationship's destinations are kept.
private struct OrderedPlaces {
  let selectSQL: String
  let updateSQL: String

  init(join: JoinLayout, column: String) {
    let (table, owner, destination) = (
      identifier(join.table), identifier(join.ownerColumn), identifier(join.destinationColumn)
    )
    selectSQL = "SELECT \(destination), \(identifier(column)) FROM \(table) WHERE \(owner) = ?"
    updateSQL = "UPDATE \(table) SET \(identifier(column)) = ? WHERE \(owner) = ? AND \(destination) = ?"
  }

  init(toOne: ToOneLayout, table: String, column: String) {
    let (name, owner) = (identifier(table), identifier(toOne.column))
    selectSQL = "SELECT Z_PK, \(identifier(column)) FROM \(name) WHERE \(owner) = ?"
    updateSQL = "UPDATE \(name) SET \(identifier(column)) = ? WHERE \(owner) = ? AND Z_PK = ?"
  }

  func read(_ owner: Int64, on connection: Connection) throws -> [Int64: Int64?] {
    let statement = try connection.statement(selectSQL)
    statement.bind(owner, at: 1)
    defer { statement.reset() }
    var result: [Int64: Int64?] = [:]
    while try statement.step() {
      result[statement.integer(0)] = .some(statement.isNull(1) ? nil : statement.integer(1))
    }
    return result
  }
}
