#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL

  /// Translates PostgreSQL's errors to errors of the graph. No message contains a password: the address is shown
  /// without it, and libpq's messages do not contain it.
  struct StoreFailure: Sendable {
    let address: PostgreSQLAddress

    /// Translates PostgreSQL's errors, and returns other errors unchanged.
    func translate(_ error: any Error) -> any Error {
      if HostWork.isOver { return HostWork.ending() }
      guard let error = error as? PostgreSQLError else { return error }
      let (code, message) = explain(error)
      return GraphError(code, message: "\(address): \(message)", underlying: error)
    }

    private func explain(_ error: PostgreSQLError) -> (GraphError.Code, String) {
      if error.isOfParameter {
        return (
          .cannotOpenFile,
          "the address cannot be used (\(error)): correct it, or the variable (such as PGOPTIONS) or the service file "
            + "that the parameter comes from"
        )
      }
      return switch error.state {
      case "28P01", "28000":
        (
          .cannotOpenFile,
          "the server refuses the user (\(error)): check the name, and the password in PGPASSFILE or ~/.pgpass"
        )
      case "3D000": (.cannotOpenFile, "\(error): create the database (createdb), or name another one")
      case "3F000": (.invalidStore, "\(error): the schema of the store is gone; open it again to make a new one")
      case "53300":
        (.storeBusy, "the server takes no more connections (\(error)): close some, or raise its max_connections")
      case "42501":
        (
          .readOnlyStore,
          "\(error): the user lacks a right; have the owner GRANT it. A new store and a migration need CREATE on the "
            + "database; saves need SELECT, INSERT, UPDATE and DELETE on the tables; a store that is only read (--read-only, "
            + "isReadOnly) needs USAGE on the schema and SELECT on the tables"
        )
      case "25006":
        (
          .readOnlyStore,
          "the session only reads (\(error)): the server may be a replica, or the user's sessions only read "
            + "(default_transaction_read_only)"
        )
      case "55P03": (.storeBusy, "another session holds a lock that is needed (\(error)); try again")
      case "57014": (.storeFailure, "the statement was cancelled (\(error))")
      case "40001", "40P01": (.storeBusy, "other sessions were in the way again and again (\(error)); try again")
      case "53100": (.storeFailure, "the server has no room on its disk (\(error)); make room and try again")
      case "22021": (.invalidValue, "a text has what PostgreSQL's UTF-8 lacks (\(error))")
      case "54000", "54011", "54001": (.invalidValue, "it is more than PostgreSQL takes (\(error))")
      case let state where state.hasPrefix("23"): (.constraintConflict, "the database refuses a row: \(error)")
      case "2BP01":
        (.storeFailure, "other views depend on the store's (\(error)): drop them, and make them again afterwards")
      case "42P01", "42703":
        (.invalidStore, "\(error): a table or column of the store is gone, or was changed by another program")
      default:
        error.isConnectionLost
          ? (.storeFailure, "the server cannot be reached, or went away (\(error)): see that it runs, and try again")
          : (.storeFailure, "\(error)")
      }
    }
  }
#endif
