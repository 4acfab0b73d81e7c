import MoonbaseSQLite

/// A table whose rows are only pairs: a many-to-many relationship.
struct JoinTable {
  let profile: TableProfile
  let owner: TableLink
  let destination: TableLink

  /// Returns nil for a table with further columns, and for a table with rows that are not pairs.
  init?(_ profile: TableProfile, _ links: [TableLink], isReferenced: Bool, _ connection: Connection) throws {
    let table = profile.table
    guard links.count == 2, table.foreignKeys.count == 2, !isReferenced else { return nil }
    let columns = links.flatMap(\.columns)
    let others = table.columns.map(\.name).filter { !columns.contains($0) }
    let ownKey = table.primaryKey.count == 1 ? table.primaryKey : []
    guard Set(columns).count == columns.count, others.isEmpty || others == ownKey,
      links.allSatisfy({ $0.inexact == 0 && !$0.isOneToOne }), columns.allSatisfy(profile.isComplete),
      links[1].parentColumns.allSatisfy(links[1].parent.standsInLists)
    else { return nil }
    // The table's own key may be an integer primary key, and nothing else.
    guard others.allSatisfy({ profile.declaration($0).declaration.uppercased() == "INTEGER" }) else { return nil }
    let pair = columns.map(\.sqlName).joined(separator: ", ")
    let doubled = "SELECT 1 FROM \(table.name.sqlName) GROUP BY \(pair) HAVING COUNT(*) > 1"
    guard try connection.integer("SELECT EXISTS (\(doubled))") == 0 else { return nil }
    (self.profile, owner, destination) = (profile, links[0], links[1])
  }

  /// The query for the owners, with the keys of their destinations as a list.
  var sql: String {
    let owners = owner.parentColumns.map { "o.\($0.sqlName)" }.joined(separator: ", ")
    func pairs(_ table: String, _ link: TableLink) -> String {
      zip(link.parentColumns, link.columns).map { "\(table).\($0.sqlName) = +t.\($1.sqlName)" }.joined(
        separator: " AND ")
    }
    return "SELECT \(owners), json_group_array(\(listed)) FROM \(profile.table.name.sqlName) t"
      + " JOIN \(owner.parent.table.name.sqlName) o ON \(pairs("o", owner))"
      + " JOIN \(destination.parent.table.name.sqlName) d ON \(pairs("d", destination))"
      + " GROUP BY \(owners) ORDER BY \(owners)"
  }

  private var listed: String {
    let key = TableLink.key("d", destination.parentColumns)
    return destination.parentColumns.count == 1 ? key : "json(\(key))"
  }

  /// The number of owners.
  func count(_ connection: Connection) throws -> Int64 {
    let columns = owner.columns.map(\.sqlName).joined(separator: ", ")
    return try connection.integer(
      "SELECT COUNT(*) FROM (SELECT DISTINCT \(columns) FROM \(profile.table.name.sqlName))") ?? 0
  }
}
