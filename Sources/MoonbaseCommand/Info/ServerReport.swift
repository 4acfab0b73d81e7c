import MoonbaseModel
import MoonbasePlatform

#if PostgreSQL
  import MoonbasePostgreSQLStore
#endif

/// The report of `moonbase info` about a schema on a server.
struct ServerReport: Encodable {
  let version: String
  let database: String
  let schema: String
  /// The size of the tables with their indexes, in bytes.
  let size: Int
  /// The number of connections that other processes have open.
  let connections: Int
  /// The schema of the readable views, or why there is none.
  let views: String?
  /// Nil if the store keeps no history.
  let history: FileReport.History?
  /// Tables and views that do not belong to the model.
  let unknownTables: [String]

  #if PostgreSQL
    init(_ facts: SchemaFacts) {
      (version, database, schema) = (facts.serverVersion, facts.database, facts.schema)
      (size, connections, views) = (facts.size, facts.connectionCount, facts.views)
      history = facts.transactionCount.map {
        FileReport.History(
          transactions: $0, first: facts.span.map { ISODate.text($0.first) },
          last: facts.span.map { ISODate.text($0.last) })
      }
      unknownTables = facts.foreignTables ?? []
    }
  #endif

  var lines: [String] {
    var lines = [
      "server      PostgreSQL \(version), database \(database), schema \(schema)", "size        \(size) bytes",
    ]
    if connections > 0 { lines.append("open        by \(connections) connection\(connections == 1 ? "" : "s")") }
    if let views { lines.append("views       \(views)") }
    if let history { lines.append(history.line) }
    if !unknownTables.isEmpty {
      lines.append("others'     \(unknownTables.listed()) (tables that the model does not know)")
    }
    return lines
  }
}
