#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  package import MoonbasePlatform
  import MoonbasePostgreSQLStore

  /// A backup of a store on a server is the first half of a migration: a file with the store's objects.
  extension ServerMigration {
    /// Copies one state of the store into a file that is the same store: with its identifier, and with its objects,
    /// keys, counters and metadata. The file has no history.
    ///
    /// The file appears under its name when it is complete. Throws `.invalidRequest` for a file that is there already,
    /// unless it is a store and `replacing` is true.
    package func backUp(to url: URL, replacing: Bool) throws {
      try inFolder { file in
        let counters = try PostgreSQLStore.counters(ofStoreAt: address, busyTimeout: store.busyTimeout)
        let identifier = try old().close { old in
          try copy(old.store, old.model, to: file, counters: counters)
          return old.store.identifier
        }
        try SQLiteStore.setIdentifier(identifier, ofStoreAt: file)
        try SQLiteStore.backUp(storeAt: file, to: url, replacing: replacing, busyTimeout: store.busyTimeout)
      }
    }
  }
#endif
