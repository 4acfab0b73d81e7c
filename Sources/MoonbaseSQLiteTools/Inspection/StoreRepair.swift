import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Repairs defects found by `StoreCheck`, as far as that is safe.
///
/// The repairs are those that lose no data: a person decides about the rest. Findings are searched again while
/// repairing, so that a list of findings is not needed.
package enum StoreRepair {
  /// Repairs defects whose repair is `.file`, in one transaction. Counters are raised, and links with missing rows and
  /// orphaned files are removed. Destinations without a position get one, derived attributes are computed again, and
  /// R-trees are filled again.
  ///
  /// The transaction is one of the store's own writes: limits of triggers, journal and locks are those of a save.
  /// Throws `.readOnlyStore` for a store that CloudKit mirrors, `.storeBusy`, and `.invalidStore` for a file that lacks
  /// features of the model.
  package static func run(
    storeAt url: URL, model: ResolvedModel, allowsCloudKit: Bool, busyTimeout: Duration? = nil
  ) throws {
    let file = StoreFile(url: url, busyTimeout: busyTimeout)
    try file.settled {
      let connection = try file.connectionToChange()
      try file.requireWhole(connection)
      let entities = try StoreMetadata(connection, path: file.path).held(of: model)
      guard let contents = try StoreContents(connection, path: file.path, model: model, entities: entities) else {
        return
      }
      try contents.checkIsWhole(file.path)
      guard allowsCloudKit || !contents.isMirrored else {
        throw GraphError(
          .readOnlyStore,
          message:
            "\(file.path) is mirrored by CloudKit, which would not hear of a repair: --allow-cloudkit does it all the same"
        )
      }
      try connection.trustRTrees()
      try TriggerFunctions.register(on: connection, telling: DerivedRows())
      try connection.transaction {
        if connection.hasMoved { throw file.movedError }
        try connection.boundTriggers(to: SQLiteStoreOptions().triggerStepLimit)
        let statements = RepairStatements(contents.layout, dialect: .sqlite)
        let historyTables = try HistorySchema.tablesThere(on: connection)
        for sql in statements.counters(historyTables: historyTables) + statements.pairs { try connection.execute(sql) }
        try giveOutPlaces(contents.layout, on: connection)
        // Allows triggers for all rows, which the recomputation of derived attributes updates.
        for table in contents.layout.tables {
          let count = try connection.integer("SELECT COUNT(*) FROM \(identifier(table.name))")
          connection.allowTriggers(forRows: Int(count ?? 0), of: table.name)
        }
        try DerivedMigration(layout: contents.layout, connection: connection).run()
        for tree in contents.layout.rTrees { try tree.repair(connection) }
        try OrphanSweep(folder: SupportFolder(store: file.truePath), connection: connection).run(sparing: [])
      }
    }
  }

  /// Assigns positions in the present order of the objects; most existing positions are kept. Lists whose positions are
  /// unique are not touched.
  private static func giveOutPlaces(_ layout: StoreLayout, on connection: Connection) throws {
    for places in OrderedPlaces.all(of: layout, dialect: .sqlite) {
      for owner in try integers(connection.statement(places.unordered), column: 0) {
        let listing = try connection.statement(places.statements.listing)
        listing.bind(owner, at: 1)
        var members: [(key: Int64, place: Int64?)] = []
        while try listing.step() { members.append((listing.integer(0), listing.storedInteger(1))) }
        listing.reset()
        let update = try connection.statement(places.statements.update)
        for (member, place) in zip(members, OrderKeys.ascending(members.map(\.place))) where member.place != place {
          update.bind(place, at: 1)
          update.bind(owner, at: 2)
          update.bind(member.key, at: 3)
          try update.run()
        }
      }
    }
  }

  /// A column of all rows as integers.
  private static func integers(_ statement: Statement, column: Int32) throws -> [Int64] {
    defer { statement.reset() }
    var result: [Int64] = []
    while try statement.step() { result.append(statement.integer(column)) }
    return result
  }
}
