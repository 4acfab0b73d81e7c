import MoonbaseModel
import MoonbaseSQLite

/// A foreign key that becomes a relationship.
///
/// A link is an object, because the inference refines it in several places: its names, and whether
/// it is deferred. It refers to the profiles of both tables, which outlive it.
final class TableLink {
  /// The table with the foreign key.
  let child: TableProfile
  /// The referenced table.
  let parent: TableProfile
  /// The columns of the foreign key.
  let columns: [String]
  /// The referenced columns, in the same order.
  let parentColumns: [String]
  /// The action for a deleted parent, in capitals.
  let onDelete: String
  /// The number of rows whose value differs from that of the parent's row, and of rows without a parent's row.
  private(set) var inexact: Int64 = 0
  /// The number of rows that refer to no row.
  private(set) var dangling: Int64 = 0
  /// Whether objects may be created before their destinations, so that the relationship is set later.
  var isDeferred = false
  /// The names of the relationship and its inverse.
  var name = ""
  /// The name of the inverse, in the entity of `parent`.
  var inverse = ""

  /// Returns nil if the parent's objects cannot be found by the referenced columns.
  ///
  /// The referenced columns must be a unique key of the parent. The rows of the child are counted,
  /// which takes one or two queries.
  init?(_ key: DatabaseSchema.ForeignKey, of child: TableProfile, to parent: TableProfile, _ connection: Connection)
    throws
  {
    let wanted = key.parentColumns.isEmpty ? parent.table.primaryKey : key.parentColumns
    (self.child, self.parent, onDelete) = (child, parent, key.onDelete.uppercased())
    columns = key.columns.compactMap(child.column)
    parentColumns = wanted.compactMap(parent.column)
    guard columns.count == key.columns.count, parentColumns.count == columns.count, !columns.isEmpty,
      parent.table.uniqueKeys.contains(where: { Set($0) == Set(parentColumns) }),
      parentColumns.count == 1 || parentColumns.allSatisfy(parent.standsInLists),
      try parent.isUnique(parentColumns, connection)
    else { return nil }
    let some = columns.map { "t.\($0.sqlName) IS NOT NULL" }.joined(separator: " OR ")
    let count = "SELECT COUNT(*) FROM \(child.table.name.sqlName) t WHERE (\(some)) AND NOT EXISTS "
    inexact = try connection.integer(count + "(SELECT 1 FROM \(found) AND \(same))") ?? 0
    if inexact > 0 { dangling = try connection.integer(count + "(SELECT 1 FROM \(found))") ?? 0 }
  }

  // MARK: SQL

  /// The row of the parent `p` for a row of the child `t`, compared by the parent column's rules, so that its index is
  /// used.
  private var found: String {
    let pairs = zip(parentColumns, columns).map { "p.\($0.sqlName) = +t.\($1.sqlName)" }
    return "\(parent.table.name.sqlName) p WHERE \(pairs.joined(separator: " AND "))"
  }

  /// A single term, because SQLite's planning time is quadratic in the number of terms, and the index is found without
  /// them.
  private var same: String {
    let pairs = zip(parentColumns, columns).map {
      "p.\($0.sqlName) COLLATE BINARY = t.\($1.sqlName) AND typeof(p.\($0.sqlName)) = typeof(t.\($1.sqlName))"
    }
    return "unlikely(\(pairs.joined(separator: " AND ")))"
  }

  /// The parent's key, by which its object is found; NULL if there is none.
  var keySQL: String { "(SELECT \(Self.key("p", parentColumns)) FROM \(found))" }

  /// The columns as a key in SQL: a single column, or a JSON array of several.
  static func key(_ table: String, _ columns: [String]) -> String {
    let list = columns.map { "\(table).\($0.sqlName)" }.joined(separator: ", ")
    return columns.count == 1 ? list : "json_array(\(list))"
  }

  // MARK: What it means

  /// Whether each row has a destination, so that the relationship need not be optional.
  var isRequired: Bool { !isDeferred && dangling == 0 && columns.allSatisfy(child.isRequired) }

  /// Whether no two rows refer to the same row.
  var isOneToOne: Bool { child.table.uniqueKeys.contains { Set($0).isSubset(of: columns) } }

  /// The delete rule for the children of a deleted row.
  var deleteRule: DeleteRule {
    switch onDelete {
    case "CASCADE": .cascade
    case "RESTRICT": .deny
    case "NO ACTION": isRequired ? .deny : .nullify
    default: isRequired ? .deny : .nullify
    }
  }

  /// The comment above the relationship in the model.
  var reason: String {
    let rule = onDelete == "NO ACTION" ? "" : ", ON DELETE \(onDelete)"
    var text =
      "foreign key \(columns.joined(separator: ", ")) to \(parent.table.name)(\(parentColumns.joined(separator: ", ")))\(rule)"
    if dangling > 0 { text += "; \(dangling) rows lead to none: what they say is in the attribute" }
    if isDeferred, columns.allSatisfy(child.isRequired) {
      text += "; optional, for objects come before their destinations"
    }
    return text.shownOnOneLine
  }
}

extension String {
  /// The text without line breaks and control characters.
  var shownOnOneLine: String {
    contains { $0.isNewline || $0.unicodeScalars.contains { $0.value < 32 || $0.value == 127 } }
      ? debugDescription : self
  }
}
