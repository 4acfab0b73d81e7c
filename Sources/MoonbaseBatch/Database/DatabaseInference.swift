import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// Infers the model of a database from its tables and all of their rows.
///
/// The inference profiles each table, looks for foreign keys that identify single rows, recognises
/// join tables, and orders tables by their references. Its result, a `DatabasePlan`, is the model
/// together with the queries of the import.
package final class DatabaseInference {
  /// The database to read.
  private let database: OpenDatabase
  /// The profiles, in the order of the schema.
  private var tables: [TableProfile] = []
  /// The foreign keys that become relationships, and the reasons why others do not.
  private var links: [TableLink] = []
  /// The reasons by table, which become comments of the model.
  private var refusals: [ObjectIdentifier: [String]] = [:]
  /// The join tables, which become many-to-many relationships.
  private var joins: [JoinTable] = []

  /// Called periodically with the current table. Returning true ends the inference.
  package var progress: (_ table: String, _ rows: Int) -> Bool = { _, _ in false }

  /// An inference for this database.
  package init(_ database: OpenDatabase) { self.database = database }

  /// The model with the plan of its import; nil if `progress` ended the inference.
  ///
  /// Reads every row once. Throws `ImportError` for a table with too many columns.
  package func plan() throws -> DatabasePlan? {
    for table in database.schema.tables {
      guard table.columns.count <= RowInference.greatestColumns else {
        throw ImportError(
          message:
            "\(database.name): table \(table.name) has \(table.columns.count) columns, and an entity has at most \(RowInference.greatestColumns)"
        )
      }
      let profile = TableProfile(table)
      guard try profile.read(database, progress: { progress(table.name, $0) }) else { return nil }
      tables.append(profile)
    }
    try database.understanding { _ in
      try findLinks()
      try findJoins()
    }
    let order = try orderedTables()
    var model = DatabaseModel(tables: tables, links: links, joins: joins, refusals: refusals)
    try database.understanding { try model.build($0) }
    model.describe(database.name, passedOver: database.schema.passedOver)
    return try database.understanding { try DatabasePlan(model, order, $0) }
  }

  // MARK: Foreign keys

  /// Makes a `TableLink` of each foreign key that can be a relationship, and records a reason for
  /// each other one.
  private func findLinks() throws {
    let named = Dictionary(tables.map { ($0.table.name.lowercased(), $0) }) { first, _ in first }
    for child in tables {
      for key in child.table.foreignKeys {
        let parent = named[key.parent.lowercased()]
        if let parent, let link = try TableLink(key, of: child, to: parent, database.connection) {
          links.append(link)
          continue
        }
        let reason = parent == nil ? "there is no such table" : "nothing says that these are unique there"
        let columns = key.parentColumns.isEmpty ? "" : "(\(key.parentColumns.joined(separator: ", ")))"
        refusals[ObjectIdentifier(child), default: []].append(
          "foreign key \(key.columns.joined(separator: ", ")) to \(key.parent)\(columns) is no relationship: \(reason)"
            .shownOnOneLine)
      }
    }
  }

  /// Moves the links of join tables from `links` to `joins`.
  private func findJoins() throws {
    let own = Dictionary(grouping: links) { ObjectIdentifier($0.child) }
    let referenced = Set(links.map { ObjectIdentifier($0.parent) })
    for table in tables {
      let id = ObjectIdentifier(table)
      let join = try JoinTable(table, own[id] ?? [], isReferenced: referenced.contains(id), database.connection)
      if let join { joins.append(join) }
    }
    let joined = Set(joins.map { ObjectIdentifier($0.profile) })
    links.removeAll { joined.contains(ObjectIdentifier($0.child)) }
  }

  // MARK: The order

  /// Referenced tables precede the tables that refer to them. In a cycle one table comes first, and its relationships
  /// are set after all objects exist.
  ///
  /// A link against the order becomes deferred. If its rows have no key, it is dropped with a
  /// reason.
  private func orderedTables() throws -> [TableProfile] {
    let joined = Set(joins.map { ObjectIdentifier($0.profile) })
    let numbers = Dictionary(uniqueKeysWithValues: tables.enumerated().map { (ObjectIdentifier($1), $0) })
    func number(_ table: TableProfile) -> Int { numbers[ObjectIdentifier(table)] ?? 0 }
    var parents: [[Int]] = Array(repeating: [], count: tables.count)
    for link in links { parents[number(link.child)].append(number(link.parent)) }
    let rest = tables.indices.filter { !joined.contains(ObjectIdentifier(tables[$0])) }
    let order = TableOrder(rest, leadingTo: parents)
    for link in links { link.isDeferred = !order.comes(number(link.child), after: number(link.parent)) }
    // A deferred relationship needs a key to find its object.
    for link in links where link.isDeferred {
      guard try link.child.identity(database.connection) == nil else { continue }
      refusals[ObjectIdentifier(link.child), default: []].append(
        "foreign key \(link.columns.joined(separator: ", ")) to \(link.parent.table.name) is no relationship: the rows have no key"
          .shownOnOneLine)
    }
    links = try links.filter { link in try !link.isDeferred || link.child.identity(database.connection) != nil }
    return order.tables.map { tables[$0] }
  }
}

extension TableProfile {
  /// The columns that identify a row among the objects; nil if there are none.
  ///
  /// The first unique key whose columns are complete in all rows is taken.
  func identity(_ connection: Connection) throws -> [String]? {
    try table.uniqueKeys.first { try $0.allSatisfy(isComplete) && isUnique($0, connection) }
  }
}
