import MoonbaseModel

/// Names the pair table of a many-to-many relationship and its columns as Core Data does, or finds them in a file.
///
/// The side with the lower entity number names the table: `Z_<a><RELATIONSHIP>` with the columns `Z_<a><INVERSE>` (the
/// owner) and `Z_<b><RELATIONSHIP>` (the destination). The table of a reflexive relationship has either name.
///
/// A value for one relationship, used while the layout is built. For example, `Person.tags` (entity 2) with the inverse
/// `Tag.people` (entity 3) has the table `Z_2TAGS` with the columns `Z_2PEOPLE` and `Z_3TAGS`. An ordered relationship
/// adds a column with the prefix `Z_FOK_` for places.
struct JoinNamer {
  /// The number of the entity that declares the relationship.
  var owner: Int64
  /// The relationship seen from this side.
  var relationship: RelationshipDescription
  /// The number of the entity that declares the inverse, or of the destination.
  var other: Int64
  /// Nil for a relationship without an inverse, which has a pair table too.
  var inverse: RelationshipDescription?
  /// Whether the relationship is its own inverse, as `friends` may be.
  var isReflexive: Bool

  /// The relationship in the spelling of the format.
  private var name: String { relationship.name.uppercased() }
  /// For a relationship without an inverse, a made-up name that Core Data does not use.
  private var inverseName: String { inverse?.name.uppercased() ?? "\(name)OWNERS" }

  /// The columns by the naming rules. Both sides yield the same names. `Z_2PEOPLE` in the example.
  private var ownerColumn: String { isReflexive ? "Z_\(owner)\(name)" : "Z_\(owner)\(inverseName)" }
  /// `Z_3TAGS` in the example.
  private var destinationColumn: String { isReflexive ? "REFLEXIVE" : "Z_\(other)\(name)" }

  /// The table by the naming rules.
  var table: String { tables[0] }

  /// The possible tables, the name of the naming rules first. Old frameworks chose the other side.
  private var tables: [String] {
    let mine = "Z_\(owner)\(name)"
    guard inverse != nil, !isReflexive else { return [mine] }
    let theirs = "Z_\(other)\(inverseName)"
    if owner == other { return preferred(mine, theirs: theirs) }
    return owner < other ? [mine, theirs] : [theirs, mine]
  }

  /// Of two relationships of one entity the ordered one names the table; otherwise the first by name.
  private func preferred(_ mine: String, theirs: String) -> [String] {
    let ordered = (relationship.isOrdered, inverse?.isOrdered ?? false)
    let isMine = ordered.0 == ordered.1 ? mine < theirs : ordered.0
    return isMine ? [mine, theirs] : [theirs, mine]
  }

  /// The layout seen from this side. Nil where the file has no such table. Without a file the names follow from the
  /// rules.
  func layout(in file: FileSchema?) -> JoinLayout? {
    guard let file else {
      return layout(table: tables[0], owner: ownerColumn, destination: destinationColumn, file: nil)
    }
    for table in tables {
      guard let columns = file.tables[table.uppercased()]?.columns else { continue }
      let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
      guard let pair = match(keys) else { continue }
      return layout(table: table, owner: pair.owner, destination: pair.destination, file: file)
    }
    return nil
  }

  /// The table or the columns that the file lacks, as a clause. For the message about a feature that the file lacks.
  func lack(in file: FileSchema?) -> String {
    let present = tables.first { file?.has($0) == true }
    return present.map { "its table \($0) has no columns \(ownerColumn) and \(destinationColumn)" }
      ?? "it has no table \(tables[0])"
  }

  /// Finds the columns by name, with or without a trailing number. If the table has two columns, finding one is enough.
  /// Further columns, which are not part of the format, are ignored.
  private func match(_ keys: [String]) -> (owner: String, destination: String)? {
    func find(_ wanted: String) -> Int? {
      keys.firstIndex(of: wanted)
        ?? keys.firstIndex { $0.hasPrefix(wanted) && $0.dropFirst(wanted.count).allSatisfy(\.isNumber) }
    }
    let (owner, destination) = (find(ownerColumn), find(destinationColumn))
    if let owner, let destination, owner != destination { return (keys[owner], keys[destination]) }
    guard keys.count == 2 else { return nil }
    if let destination { return (keys[1 - destination], keys[destination]) }
    if let owner { return (keys[owner], keys[1 - owner]) }
    return isReflexive ? (keys[0], keys[1]) : nil
  }

  /// The layout of a found or new table. The caller sets the destination.
  private func layout(table: String, owner: String, destination: String, file: FileSchema?) -> JoinLayout {
    JoinLayout(
      table: table, ownerColumn: owner, destinationColumn: destination,
      orderColumn: orderColumn(relationship.isOrdered, column: destination, table: table, file: file),
      isReflexive: isReflexive, mayRepeat: file?.lacksKey(table) ?? false,
      destination: 0)
  }

  /// The layout seen from the other side. The layout for the inverse relationship: owner and destination change places.
  func reversed(_ layout: JoinLayout, in file: FileSchema?, destination: EntityIndex) -> JoinLayout {
    JoinLayout(
      table: layout.table, ownerColumn: layout.destinationColumn, destinationColumn: layout.ownerColumn,
      orderColumn: orderColumn(
        inverse?.isOrdered ?? false, column: layout.ownerColumn, table: layout.table, file: file),
      isReflexive: false, mayRepeat: layout.mayRepeat, destination: destination)
  }

  /// The name of the order column for a column of destinations. `Z_FOK_3TAGS` for the column `Z_3TAGS`.
  static func orderName(of column: String) -> String {
    column.hasPrefix("Z_") ? "Z_FOK_\(column.dropFirst(2))" : "Z_FOK_\(column)"
  }

  /// The column with the places; nil for an unordered relationship, and if the file has no such column.
  private func orderColumn(_ isOrdered: Bool, column: String, table: String, file: FileSchema?) -> String? {
    let name = Self.orderName(of: column)
    guard isOrdered, file?.has(name, in: table) ?? true else { return nil }
    return name
  }
}
