import MoonbaseSQLite

/// New pairs on their way into a table of pairs, many of them in one statement: to begin and to end one for each pair would cost
/// more than a third of the whole.
struct PairBatch {
  private static let size = 16

  private struct Target {
    let table: String
    let owner: String
    let one: Statement
    let many: Statement
  }

  private let connection: Connection
  private var target: Target?
  /// The keys of pairs that wait, two for each.
  private var keys: [Int64] = []

  init(_ connection: Connection) { self.connection = connection }

  /// Says where the next pairs go: owners of one relationship come one after another.
  mutating func begin(_ join: JoinLayout) throws {
    if let target, target.table == join.table, target.owner == join.ownerColumn { return }
    try write()
    let columns = [join.ownerColumn, join.destinationColumn].map(identifier).joined(separator: ", ")
    let start = "INSERT OR IGNORE INTO \(identifier(join.table)) (\(columns)) VALUES "
    let rows = [String](repeating: "(?, ?)", count: Self.size).joined(separator: ", ")
    target = Target(
      table: join.table, owner: join.ownerColumn, one: try connection.statement(start + "(?, ?)"),
      many: try connection.statement(start + rows))
  }

  mutating func add(owner: Int64, destination: Int64) throws {
    keys.append(owner)
    keys.append(destination)
    if keys.count == 2 * Self.size { try write() }
  }

  /// Writes the pairs that wait.
  mutating func write() throws {
    guard let target, !keys.isEmpty else { return }
    if keys.count == 2 * Self.size {
      try run(target.many, with: keys[...])
    } else {
      for start in stride(from: 0, to: keys.count, by: 2) { try run(target.one, with: keys[start..<start + 2]) }
    }
    keys.removeAll(keepingCapacity: true)
  }

  private func run(_ statement: Statement, with keys: ArraySlice<Int64>) throws {
    var index: Int32 = 1
    for key in keys {
      statement.bind(key, at: index)
      index += 1
    }
    defer { statement.reset() }
    while try statement.step() {}
  }
}
