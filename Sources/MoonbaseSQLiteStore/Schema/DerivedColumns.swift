import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Computes the derived attributes that no trigger of the file updates. The form of Core Data's triggers for them is
/// not known, and Moonbase adds no triggers of its own to a store.
///
/// Temporary triggers of the writing connection note the rows to derive again, for a save and a batch request alike.
/// Each of these rows is derived once, before the transaction ends.
///
/// Made once for the writing connection when a store opens. The order in a save: rows change and triggers note keys,
/// then `derive` runs once. Several rounds are needed, because a derived attribute may depend on another one.
final class DerivedColumns {
  /// The temporary table with the noted keys.
  private static let table = "moonbase_underived"
  /// For each attribute its name, and the statement that sets its column in noted rows and returns their keys, entities
  /// and values.
  private let updates: [(attribute: String, sql: String)]

  /// Returns nil where there are no such attributes. Creates the temporary table and the triggers.
  init?(_ layout: StoreLayout, on connection: Connection) throws {
    let entities = layout.entities.compactMap(\.self).filter { !layout.model.storedDerivations(of: $0.entity).isEmpty }
    if entities.isEmpty { return nil }
    let known = try Self.names(ofTriggersOn: connection)
    var updates: [(attribute: String, sql: String)] = []
    var triggers: [String] = []
    for entity in entities {
      for derivation in layout.model.storedDerivations(of: entity.entity) {
        let name = entity.entity.properties[derivation.slot].name
        guard !known.contains(where: { $0.contains("_\(entity.entity.name)_\(name)_") }),
          case .attribute(let column, _) = entity.slots[derivation.slot],
          let update = derivation.update(
            of: entity, keys: "SELECT key FROM temp.\(Self.table) WHERE derivation = \(updates.count) AND taken",
            layout: layout, dialect: .sqlite),
          let noting = DerivationTriggers(derivation, number: updates.count, table: Self.table, layout: layout)
        else { continue }
        triggers += noting.statements
        updates.append((name, "\(update) RETURNING Z_PK, Z_ENT, \(identifier(column))"))
      }
    }
    if updates.isEmpty { return nil }
    self.updates = updates
    try connection.execute("PRAGMA temp_store = MEMORY")
    try connection.execute(
      "CREATE TEMP TABLE \(Self.table) (derivation INTEGER, taken INTEGER, key INTEGER, "
        + "PRIMARY KEY (derivation, taken, key)) WITHOUT ROWID")
    for trigger in triggers { try connection.execute(trigger) }
  }

  /// Core Data's triggers begin with `Z_DA_`.
  private static func names(ofTriggersOn connection: Connection) throws -> [String] {
    let statement = try connection.statement("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    defer { statement.reset() }
    var names: [String] = []
    while try statement.step() { names.append(statement.text(0)) }
    return names.filter { $0.hasPrefix("Z_DA_") }
  }

  /// Derives the noted rows again, and reports rows whose values changed to `derived`. At most
  /// `StoredDerivation.greatestRounds` rounds. Throws `TriggerOverrun` if triggers of the file do not end.
  func derive(on connection: Connection, telling derived: DerivedRows) throws {
    for _ in 0..<StoredDerivation.greatestRounds {
      guard try connection.integer("SELECT 1 FROM temp.\(Self.table) LIMIT 1") != nil else { return }
      for (number, update) in updates.enumerated() {
        try connection.execute("UPDATE temp.\(Self.table) SET taken = 1 WHERE derivation = \(number) AND NOT taken")
        if connection.changes == 0 { continue }
        connection.allowTriggers(forRows: connection.changes)
        let statement = try connection.statement(update.sql)
        defer { statement.reset() }
        while try statement.step() {
          let (entity, key) = (statement.integer(1), statement.integer(0))
          derived.note(entity: entity, key: key)
          switch statement.storage(2) {
          case .integer: derived.note(statement.integer(2), of: update.attribute, entity: entity, key: key)
          case .real: derived.note(statement.double(2), of: update.attribute, entity: entity, key: key)
          case .null, .text, .blob: break
          }
        }
        try connection.execute("DELETE FROM temp.\(Self.table) WHERE derivation = \(number) AND taken")
      }
    }
    try connection.execute("DELETE FROM temp.\(Self.table)")
  }
}

/// The triggers that note the keys of rows in which an attribute has to be derived again.
///
/// For example, a task has a derived attribute `project.title`. It has to be derived again after a change of `ZTITLE`
/// in a project, of `ZPROJECT` in a task, and after an insertion of either.
private struct DerivationTriggers {
  /// The number of the derivation in the temporary table.
  private let number: Int
  /// The temporary table.
  private let table: String
  /// The tables along the key path, and the columns that refer from each to the next.
  private var tables: [String] = []
  /// The columns are those of to-one relationships.
  private var links: [String] = []
  /// The `CREATE TEMP TRIGGER` statements.
  private(set) var statements: [String] = []

  /// Returns nil where the file lacks a table or column of the path. `number` is the index among the derived
  /// attributes.
  init?(_ derivation: StoredDerivation, number: Int, table: String, layout: StoreLayout) {
    (self.number, self.table) = (number, table)
    var entities: [EntityLayout] = []
    for index in derivation.entities {
      guard let entity = layout.entities[index] else { return nil }
      entities.append(entity)
    }
    tables = entities.map { identifier($0.table) }
    for (slot, entity) in zip(derivation.path, entities) {
      guard case .toOne(let toOne) = entity.slots[slot] else { return nil }
      links.append(identifier(toOne.column))
    }
    note("INSERT", on: tables[0], "SELECT NEW.Z_PK Z_PK")
    for (place, link) in links.enumerated() {
      note("UPDATE OF \(link)", on: tables[place], owners(of: "SELECT NEW.Z_PK Z_PK", at: place))
    }
    // An import may insert a row before the destination it refers to.
    for place in tables.indices.dropFirst() {
      note("INSERT", on: tables[place], owners(of: "SELECT NEW.Z_PK Z_PK", at: place))
    }
    let place = entities[entities.count - 1]
    switch derivation.result {
    case .now: note("UPDATE OF Z_OPT", on: tables[0], "SELECT NEW.Z_PK Z_PK")
    case .value(let slot, _):
      guard case .attribute(let column, _) = place.slots[slot] else { return nil }
      note("UPDATE OF \(identifier(column))", on: tables[links.count], owners(of: "SELECT NEW.Z_PK Z_PK"))
    case .collection(let slot, let element, _):
      guard notes(members: place.slots[slot], element: element, in: layout) else { return nil }
    }
  }

  /// The keys of the rows whose path reaches one of the given keys at a place of the path. `keys` is a SELECT with the
  /// column `Z_PK`; the result is one too. Without a place, the end of the path is meant.
  private func owners(of keys: String, at place: Int? = nil) -> String {
    var keys = keys
    for step in links[..<(place ?? links.count)].indices.reversed() {
      keys = "SELECT Z_PK FROM \(tables[step]) WHERE \(links[step]) IN (\(keys))"
    }
    return keys
  }

  /// Adds a trigger that notes each of these keys once.
  private mutating func note(_ event: String, on source: String, _ keys: String) {
    // In a trigger the conflict handling of the outer statement applies.
    statements.append(
      "CREATE TEMP TRIGGER \(table)_\(number)_\(statements.count) AFTER \(event) ON main.\(source) FOR EACH ROW BEGIN "
        + "INSERT INTO \(table) SELECT \(number), 0, k.Z_PK FROM (\(keys)) k WHERE k.Z_PK IS NOT NULL AND NOT EXISTS "
        + "(SELECT 1 FROM \(table) WHERE derivation = \(number) AND taken = 0 AND key = k.Z_PK); END")
  }

  /// Adds the triggers for members of a collection at the end of the path: links that come and go, and changes of
  /// `element`. Returns false if the file lacks a column.
  private mutating func notes(members slot: SlotLayout, element: Slot?, in layout: StoreLayout) -> Bool {
    switch slot {
    case .foreignKey(let toOne, let destination):
      guard let members = layout.entities[destination] else { return false }
      let (source, key) = (identifier(members.table), identifier(toOne.column))
      note("INSERT", on: source, owners(of: "SELECT NEW.\(key) Z_PK"))
      note("DELETE", on: source, owners(of: "SELECT OLD.\(key) Z_PK"))
      note("UPDATE OF \(key)", on: source, owners(of: "SELECT OLD.\(key) Z_PK UNION SELECT NEW.\(key)"))
      guard let element else { return true }
      guard case .attribute(let column, _) = members.slots[element] else { return false }
      note("UPDATE OF \(identifier(column))", on: source, owners(of: "SELECT NEW.\(key) Z_PK"))
    case .join(let join):
      guard let members = layout.entities[join.destination] else { return false }
      let (source, owner, member) = (
        identifier(join.table), identifier(join.ownerColumn), identifier(join.destinationColumn)
      )
      for (event, row) in [("INSERT", "NEW"), ("DELETE", "OLD")] {
        let both = join.isReflexive ? " UNION SELECT \(row).\(member)" : ""
        note(event, on: source, owners(of: "SELECT \(row).\(owner) Z_PK\(both)"))
      }
      guard let element else { return true }
      guard case .attribute(let column, _) = members.slots[element] else { return false }
      let both = join.isReflexive ? " UNION SELECT \(member) FROM \(source) WHERE \(owner) = NEW.Z_PK" : ""
      note(
        "UPDATE OF \(identifier(column))", on: identifier(members.table),
        owners(of: "SELECT \(owner) Z_PK FROM \(source) WHERE \(member) = NEW.Z_PK\(both)"))
    case .none, .lost, .attribute, .composite, .toOne: return false
    }
    return true
  }
}
