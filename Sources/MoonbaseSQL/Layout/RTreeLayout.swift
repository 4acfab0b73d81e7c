package import MoonbaseModel

/// An R-tree of an entity's rows, maintained by triggers of their table.
///
/// The form follows published listings of the tables of Apple's Photos: `Z_RT_<Entity>_<index>` with the key of the row
/// and two columns for each attribute. No file was available to confirm it.
///
/// A model declares such an index with the structure `places`, as Core Data's R-tree indexes over coordinates do.
/// Predicates that limit the dimensions by BETWEEN then search the tree instead of the table. The database maintains
/// the tree by triggers, also when another program writes.
package struct RTreeLayout: Sendable, Hashable {
  /// An attribute that is a dimension.
  package struct Dimension: Sendable, Hashable {
    /// The path from the entity to an attribute, or to an element of a composite.
    package var keys: [String]
    /// The column of the rows' table.
    package var column: String
  }

  /// The name of the tree.
  package let name: String
  /// The entity with the index. The tree holds its rows and those of its subentities.
  package let entity: EntityIndex
  /// The table of the entity's rows.
  package let table: String
  /// In the order of the index; at most five in SQLite.
  package let dimensions: [Dimension]
  /// The numbers of the entities in the tree. Empty where these are all entities of the table.
  private let numbers: [Int64]

  /// `numbers` is empty for the tree of a root entity.
  init(name: String, entity: EntityIndex, table: String, dimensions: [Dimension], numbers: [Int64]) {
    (self.name, self.entity, self.table) = (name, entity, table)
    (self.dimensions, self.numbers) = (dimensions, numbers)
  }

  // MARK: In SQL

  /// The quoted name.
  private var tree: String { identifier(name) }
  /// The quoted columns of the rows' table.
  private var columns: [String] { dimensions.map { identifier($0.column) } }

  /// The columns with the least and the greatest value of a dimension. `ZLATITUDE_MIN` and `ZLATITUDE_MAX` for the
  /// column `ZLATITUDE`.
  package func bounds(_ dimension: Dimension) -> (least: String, greatest: String) {
    (identifier("\(dimension.column)_MIN"), identifier("\(dimension.column)_MAX"))
  }

  /// The statement that creates the tree. For example:
  ///
  /// ```sql
  /// CREATE VIRTUAL TABLE Z_RT_Place_byPlace USING RTREE (Z_PK INTEGER PRIMARY KEY,
  ///   ZLATITUDE_MIN FLOAT, ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)
  /// ```
  package var creation: String {
    let list = dimensions.map(bounds).map { "\($0.least) FLOAT, \($0.greatest) FLOAT" }.joined(separator: ", ")
    return "CREATE VIRTUAL TABLE \(tree) USING RTREE (Z_PK INTEGER PRIMARY KEY, \(list))"
  }

  /// The names of the triggers. For a check of the file: a trigger that is missing makes the tree stale.
  package var triggerNames: [String] { triggers.map(\.name) }

  /// The triggers that maintain the tree. In a trigger the conflict handling of the outer statement applies, so an
  /// existing entry is deleted first.
  package var triggers: [(name: String, sql: String)] {
    let remove = "DELETE FROM \(tree) WHERE Z_PK = "
    let add = "INSERT INTO \(tree) (\(names)) SELECT \(values("NEW.")) WHERE \(presence("NEW."));"
    let events = [
      ("INSERT", "AFTER INSERT", "NEW", "\(remove)NEW.Z_PK; \(add)"),
      ("UPDATE", "AFTER UPDATE OF \(columns.joined(separator: ", "))", "NEW", "\(remove)NEW.Z_PK; \(add)"),
      ("DELETE", "AFTER DELETE", "OLD", "\(remove)OLD.Z_PK;"),
    ]
    return events.map { name, event, row, body in
      let trigger = "\(self.name)_\(name)"
      let condition = membership("\(row).").map { " WHEN (\($0))" } ?? ""
      return (
        trigger,
        "CREATE TRIGGER \(identifier(trigger)) \(event) ON \(identifier(table)) FOR EACH ROW\(condition) BEGIN \(body) END"
      )
    }
  }

  /// The statement that fills an empty tree with the existing rows. Rows without a value in some dimension are not in
  /// the tree.
  package var filling: String {
    "INSERT INTO \(tree) (\(names)) SELECT \(values("t.")) FROM \(identifier(table)) t WHERE \(isThere)"
  }

  /// The statement that deletes all entries. Run before `filling`.
  package var emptying: String { "DELETE FROM \(tree)" }
  /// The statement that removes the tree.
  package var removal: String { "DROP TABLE \(tree)" }

  /// The query for keys of rows that the tree lacks or has at another place. An R-tree holds 32-bit floats, rounded
  /// outwards: an entry encloses its value.
  package var strays: String {
    let places = dimensions.map { dimension in
      let (least, greatest) = bounds(dimension)
      let value = "t.\(identifier(dimension.column))"
      // For a value outside the range of floats, or no number, the place in the tree is not significant.
      return "(r.\(least) <= \(value) AND r.\(greatest) >= \(value) OR ABS(\(value)) >= \(Self.greatest) "
        + "OR ABS(\(value)) < \(Self.least) "
        + "OR TYPEOF(\(value)) NOT IN ('integer', 'real'))"
    }
    return "SELECT t.Z_PK FROM \(identifier(table)) t WHERE \(isThere) AND NOT EXISTS (SELECT 1 FROM \(tree) r "
      + "WHERE r.Z_PK = t.Z_PK AND \(places.joined(separator: " AND ")))"
  }

  /// The query for keys in the tree without a row.
  package var leftovers: String {
    "SELECT r.Z_PK FROM \(tree) r WHERE NOT EXISTS (SELECT 1 FROM \(identifier(table)) t WHERE t.Z_PK = r.Z_PK AND \(isThere))"
  }

  /// The columns of the tree as a list.
  private var names: String {
    (["Z_PK"] + dimensions.map(bounds).flatMap { [$0.least, $0.greatest] }).joined(separator: ", ")
  }

  /// The key and each dimension twice, for the least and the greatest value. `row` is a prefix such as `NEW.`.
  private func values(_ row: String) -> String {
    (["\(row)Z_PK"] + columns.flatMap { ["\(row)\($0)", "\(row)\($0)"] }).joined(separator: ", ")
  }

  /// The condition that all dimensions have values.
  private func presence(_ row: String) -> String {
    columns.map { "\(row)\($0) IS NOT NULL" }.joined(separator: " AND ")
  }

  /// The condition that a row is of an entity in the tree; nil if all rows of the table are.
  private func membership(_ row: String) -> String? {
    numbers.isEmpty ? nil : "\(row)Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))"
  }

  /// The condition for rows that belong in the tree.
  private var isThere: String { [membership("t."), presence("t.")].compactMap(\.self).joined(separator: " AND ") }

  /// From here on a float is infinite, and an entry may no longer enclose its value.
  static let greatest = 3.4e38
  /// Below this, except for zero, floats are rounded to nearest instead of outwards.
  static let least = 1.2e-38
}

extension StoreLayout {
  /// The R-trees that the model declares. Two trees of the same name, in any case, are one.
  func declaredRTrees() -> [RTreeLayout] {
    var names: Set<String> = []
    return entities.compactMap(\.self).flatMap { entity in
      entity.entity.description.indexes.compactMap { index -> RTreeLayout? in
        guard let tree = rTree(index, of: entity), names.insert(tree.name.lowercased()).inserted else { return nil }
        return tree
      }
    }
  }

  /// Nil for an index of another structure, and for elements without a column.
  private func rTree(_ index: FetchIndexDescription, of entity: EntityLayout) -> RTreeLayout? {
    guard let stored = try? index.stored(in: entity.entity), stored.structure == .places else { return nil }
    var dimensions: [RTreeLayout.Dimension] = []
    for element in stored.elements {
      guard case .keyPath(_, let keys) = element.term, let column = entity.column(of: keys) else { return nil }
      dimensions.append(.init(keys: keys, column: column))
    }
    guard !dimensions.isEmpty, Set(dimensions.map(\.column)).count == dimensions.count else { return nil }
    let numbers = entity.entity.parent == nil ? [] : subtree(of: entity.entity).map(\.number)
    return RTreeLayout(
      name: "Z_RT_\(entity.entity.name)_\(index.name)", entity: entity.entity.index, table: entity.table,
      dimensions: dimensions, numbers: numbers)
  }
}

extension EntityLayout {
  /// The column of an attribute, a to-one relationship, or an element of a composite. `keys` is a path of one key, or
  /// the path to an element. Nil for properties without a single column.
  package func column(of keys: some Collection<String>) -> String? {
    guard let slot = keys.first.flatMap({ entity.slot($0) }) else { return nil }
    if case .composite(let composite) = slots[slot] { return composite.leaf(at: Array(keys.dropFirst()))?.column }
    guard keys.count == 1 else { return nil }
    return switch slots[slot] {
    case .attribute(let column, _): column
    case .toOne(let toOne): toOne.column
    case .composite, .none, .lost, .foreignKey, .join: nil
    }
  }
}
