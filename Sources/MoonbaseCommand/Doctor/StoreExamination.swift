import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLiteStore

#if PostgreSQL
  import MoonbasePostgreSQLStore
#endif

/// The check and the repair of a store in a file or on a server, for `moonbase doctor`.
struct StoreExamination {
  /// The store with the configuration that it holds.
  let store: NamedStore
  /// The model of the store.
  let model: ResolvedModel
  /// The time to wait for other processes.
  let busyTimeout: Duration?

  /// Runs all checks, and returns whether the write-ahead log of the file may be missing.
  ///
  /// - Parameters:
  ///   - bar: Shows the rows that were checked.
  ///   - tell: Receives each finding when it is found.
  func run(showing bar: ProgressBar, _ tell: @escaping (StoreFinding) throws -> Void) throws -> Bool {
    guard store.isOnServer else {
      let check = try StoreCheck(
        storeAt: URL(literalPath: store.path), model: model, busyTimeout: busyTimeout, tell)
      if bar.isShown { check.progress = { bar.show($0, of: $1) } }
      try check.run()
      return check.mayLackLog
    }
    #if PostgreSQL
      let check = try ServerCheck(
        storeAt: store.address, model: model, configuration: store.configuration, busyTimeout: busyTimeout, tell)
      if bar.isShown { check.progress = { bar.show($0, of: $1) } }
      try check.run()
    #endif
    return false
  }

  /// Repairs the findings whose repair is `.file`.
  func repair(allowsCloudKit: Bool) throws {
    guard store.isOnServer else {
      return try StoreRepair.run(
        storeAt: URL(literalPath: store.path), model: model, allowsCloudKit: allowsCloudKit, busyTimeout: busyTimeout)
    }
    #if PostgreSQL
      try ServerRepair.run(
        storeAt: store.address, model: model, configuration: store.configuration, busyTimeout: busyTimeout)
    #endif
  }
}
