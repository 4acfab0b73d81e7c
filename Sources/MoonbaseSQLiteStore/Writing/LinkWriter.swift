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
      let places = OrderColumn(join: join, column: column)
      try PlaceWriter(links.owner, order: order, column: places, on: connection).write(moved: links.moved)
    case .foreignKey(let toOne, let destination):
      guard let column = toOne.orderColumn else { return }
      let table = try layout.layout(layout.model.entities[destination]).table
      let places = OrderColumn(toOne: toOne, table: table, column: column)
      try PlaceWriter(links.owner, order: order, column: places, on: connection).write(moved: links.moved)
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
    statement.rewind()
  }

  private mutating func add(_ links: StoreChanges.Links, to join: JoinLayout) throws {
    guard !links.added.isEmpty else { return }
    try batch.begin(join)
    for id in links.added {
      try batch.add(owner: links.owner.key, destination: id.key)
      if join.isReflexive { try batch.add(owner: id.key, destination: links.owner.key) }
    }
  }
}
