import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Does what is safe about what `StoreCheck` finds.
package enum StoreRepair {
  /// Does what is safe about findings whose repair is the file's: counters rise, pairs go of which a row is not there, and so do files that no row
  /// names. All of it in one transaction.
  package static func run(storeAt url: URL, model: ResolvedModel, allowsCloudKit: Bool) throws {
    let file = StoreFile(url: url)
    try StoreOpener.settled(file) {
      let connection = try file.connectionToChange()
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
      let derived = DerivedRows()
      try TriggerFunctions.register(on: connection, telling: derived)
      try PredicateFunctions.register(on: connection)
      let columns = try DerivedColumns(contents.layout, on: connection)
      try connection.transaction {
        if connection.hasMoved { throw StoreOpener.moved(file) }
        try connection.boundTriggers(to: SQLiteStoreOptions().triggerStepLimit)
        try raiseCounters(contents.layout, on: connection)
        try removePairs(contents.layout, on: connection)
        try columns?.derive(on: connection, telling: derived)
        try OrphanSweep(folder: SupportFolder(store: file.truePath), connection: connection).run(sparing: [])
      }
    }
  }

  private static func raiseCounters(_ layout: StoreLayout, on connection: Connection) throws {
    var counted = layout.entities.compactMap(\.self).filter { $0.entity.parent == nil }.map { ($0.number, $0.table) }
    for (number, table) in HistorySchema.countedTables
    where try !FileSchema.columns(of: table, on: connection).isEmpty { counted.append((number, table)) }
    for (number, table) in counted {
      let greatest = "(SELECT MAX(Z_PK) FROM \(identifier(table)))"
      try connection.execute(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = \(greatest) WHERE Z_ENT = \(number) AND Z_MAX < \(greatest)")
    }
  }

  private static func removePairs(_ layout: StoreLayout, on connection: Connection) throws {
    for entity in layout.entities.compactMap(\.self) {
      for (property, slot) in zip(entity.entity.properties, entity.slots) {
        guard case .join(let join) = slot, property.declaringEntity == entity.entity.index,
          let destination = layout.entities[join.destination]
        else { continue }
        let (owner, other) = (identifier(join.ownerColumn), identifier(join.destinationColumn))
        try connection.execute(
          "DELETE FROM \(identifier(join.table)) WHERE " + StoreCheck.condition(owner, entity.table) + " OR "
            + StoreCheck.condition(other, destination.table))
      }
    }
  }
}
