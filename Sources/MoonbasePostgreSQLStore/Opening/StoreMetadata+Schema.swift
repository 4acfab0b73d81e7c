#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbaseModelFormats
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// Reads the metadata of a schema.
  extension StoreMetadata {
    /// Reads the metadata row. With `locking`, other sessions wait before they change it.
    init(_ connection: PostgreSQLConnection, address: PostgreSQLAddress, locking: Bool = false) throws {
      let rows = try connection.query(
        "SELECT Z_UUID, Z_PLIST FROM Z_METADATA WHERE Z_VERSION = 1\(locking ? " FOR UPDATE" : "")")
      guard rows.count == 1, !rows.isNull(0, 1), let uuid = UUID(uuidString: rows.text(0, 0)) else {
        throw GraphError(
          .invalidStore,
          message:
            "\(address) is damaged: its table Z_METADATA has no UUID or no property list; restore it from a backup")
      }
      do {
        let entries = try PropertyList(binary: rows.data(0, 1)).dictionary ?? [:]
        self.init(identifier: uuid.uuidString, entries: entries)
      } catch {
        throw GraphError(
          .invalidStore, message: "\(address) is damaged: its metadata cannot be read", underlying: error)
      }
    }

    func write(_ connection: PostgreSQLConnection) throws {
      var parameters = Parameters()
      parameters.append(identifier)
      parameters.append(PropertyList.dictionary(entries).binaryData)
      try connection.query(
        "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, $1, $2) "
          + "ON CONFLICT (Z_VERSION) DO UPDATE SET Z_UUID = EXCLUDED.Z_UUID, Z_PLIST = EXCLUDED.Z_PLIST", parameters)
    }
  }
#endif
