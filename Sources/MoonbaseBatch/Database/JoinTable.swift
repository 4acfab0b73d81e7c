import MoonbaseSQLite

/// A table whose rows are only pairs: a many-to-many relationship.
///
/// For example, a table `author_book(author_id, book_id)` between the tables `authors` and `books`
/// becomes a relationship and its inverse with these names. The table's own integer key is accepted
/// and is not kept.
struct JoinTable {
  /// The table with the pairs.
  let profile: TableProfile
  /// The foreign key to the side whose objects are updated.
  let owner: TableLink
  /// The foreign key to the other side.
  let destination: TableLink

  /// Returns nil for a table with further columns, and for a table with rows that are not pairs.
  ///
  /// - Parameters:
  ///   - profile: The table.
  ///   - links: The links of the table's foreign keys, exactly two.
  ///   - isReferenced: Whether another table refers to this one, which then needs objects.
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
  ///
  /// A row has the key of an owner and a JSON array of the keys of its destinations.
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

  /// The key of a destination as an element of a JSON array.
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
