import MoonbaseModel
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// The pairs of source and destination objects, kept in a temporary database so that memory use is bounded.
///
/// Without this table the pairs of millions of objects would have to be in memory. A pair is added once per mapping;
/// lookups go in both directions by indexes.
final class InstanceAssociations {
  /// The temporary database.
  private let connection: Connection
  /// The older model.
  private let source: ResolvedModel
  /// The newer model.
  private let destination: ResolvedModel
  /// The number of both stores in object IDs.
  private let store: StoreNumber

  /// Makes an empty table.
  init(from source: ResolvedModel, to destination: ResolvedModel, store: StoreNumber) throws {
    (self.source, self.destination, self.store) = (source, destination, store)
    // An empty name makes a temporary database that is deleted with the connection.
    connection = try Connection("")
    try connection.executeScript(
      """
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
      CREATE TABLE became (
        mapping INTEGER, root INTEGER, source INTEGER, sourceEntity INTEGER, entity INTEGER, destination INTEGER,
        PRIMARY KEY (root, source, mapping, entity, destination)) WITHOUT ROWID;
      CREATE INDEX came ON became (mapping, entity, destination, source);
      BEGIN
      """)
  }

  /// Records that a mapping made a destination object from a source object. `destination` must have a permanent ID. A
  /// repeated pair is ignored.
  func add(_ source: ManagedObjectID, became destination: ManagedObjectID, by mapping: Int) throws {
    guard let old = self.source.entity(of: source), let new = self.destination.entity(of: destination) else { return }
    let statement = try connection.statement("INSERT OR IGNORE INTO became VALUES (?, ?, ?, ?, ?, ?)")
    let values = [Int64(mapping), Int64(old.root), source.key, Int64(old.index), Int64(new.index), destination.key]
    for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
    try statement.run()
  }

  /// The destination objects of a source object, by one mapping or by all mappings in order. Ordered by mapping, then
  /// by entity and key. Keys are compared with the root entity, because subentities share keys.
  func destinations(of id: ManagedObjectID, by mapping: Int? = nil) throws -> [(mapping: Int, id: ManagedObjectID)] {
    guard let entity = source.entity(of: id) else { return [] }
    let statement = try connection.statement(
      "SELECT mapping, entity, destination FROM became WHERE root = ? AND source = ? AND mapping >= ? AND mapping <= ? "
        + "ORDER BY mapping, entity, destination")
    let range = mapping.map { ($0, $0) } ?? (0, Int.max)
    for (index, value) in [Int64(entity.root), id.key, Int64(range.0), Int64(range.1)].enumerated() {
      statement.bind(value, at: Int32(index + 1))
    }
    defer { statement.reset() }
    var result: [(mapping: Int, id: ManagedObjectID)] = []
    while try statement.step() {
      result.append((Int(statement.integer(0)), self.id(statement.integer(2), statement.integer(1), in: destination)))
    }
    return result
  }

  /// The source objects of a destination object, by one mapping. Ordered by key.
  func sources(of id: ManagedObjectID, by mapping: Int) throws -> [ManagedObjectID] {
    guard let entity = destination.entity(of: id) else { return [] }
    let statement = try connection.statement(
      "SELECT source, sourceEntity FROM became WHERE mapping = ? AND entity = ? AND destination = ? ORDER BY source")
    for (index, value) in [Int64(mapping), Int64(entity.index), id.key].enumerated() {
      statement.bind(value, at: Int32(index + 1))
    }
    defer { statement.reset() }
    var result: [ManagedObjectID] = []
    while try statement.step() { result.append(self.id(statement.integer(0), statement.integer(1), in: source)) }
    return result
  }

  /// The destination objects of a mapping after a given one, without repetition. In the order of entities and keys;
  /// pass the last ID of the result for the next part.
  func destinations(by mapping: Int, after last: ManagedObjectID?, upTo count: Int) throws -> [ManagedObjectID] {
    let statement = try connection.statement(
      "SELECT DISTINCT destination, entity FROM became WHERE mapping = ? AND (entity, destination) > (?, ?) "
        + "ORDER BY entity, destination LIMIT ?")
    let entity = last.flatMap { destination.entity(of: $0) }.map { Int64($0.index) } ?? -1
    for (index, value) in [Int64(mapping), entity, last?.key ?? 0, Int64(count)].enumerated() {
      statement.bind(value, at: Int32(index + 1))
    }
    defer { statement.reset() }
    var result: [ManagedObjectID] = []
    while try statement.step() { result.append(id(statement.integer(0), statement.integer(1), in: destination)) }
    return result
  }

  /// The ID of a row.
  private func id(_ key: Int64, _ entity: Int64, in model: ResolvedModel) -> ManagedObjectID {
    ManagedObjectID(store: store, entity: model.entities[Int(entity)].symbol, key: key)
  }
}
