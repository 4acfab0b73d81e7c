package import MoonbaseGraph
package import MoonbaseModel

/// The columns of an entity's rows (and its subentities'), and the statements that select rows by their keys.
///
/// Made once for an entity and a set of slots, and kept by the store. All entities of a table share the result columns;
/// each has its own places among them (`kinds`), so that a row is decoded by its `Z_ENT`.
package struct RowSelect: Sendable {
  /// The place of a slot's value among the result columns.
  package enum Place: Sendable {
    /// No place: the value is null.
    case null
    /// A column that does not exist, or whose form is not known. The value is an index into `lacks`.
    case lost(Int)
    /// A plain column, with its kind and its index in the result.
    case attribute(ColumnKind, Int32)
    /// The columns of a composite's elements. The value is an index into `composites`.
    case composite(Int)
    /// Text in UTF-16, which may be malformed.
    case wideText(ColumnKind, Int32)
    /// The key of a destination whose entity is known.
    case toOne(Int32, Symbol)
    /// The key of a destination whose entity number is in another column.
    case polymorphic(Int32, Int32, Destinations)
  }

  /// The possible destinations of a relationship with several entities.
  package struct Destinations: Sendable {
    /// The entity that the model declares.
    package var declared: Symbol
    /// The topmost entity, which has the table.
    package var root: EntityIndex
    /// The entity for rows with an unknown entity number.
    package var unknown: Symbol
  }

  /// A composite attribute with the columns of its elements. All elements are null if the composite is null.
  package struct Composite: Sendable {
    /// The elements with their columns.
    package var layout: CompositeLayout
    /// The places of its leaves. In the order of `layout.leaves`.
    package var places: [Place]

    /// A composite with a place for each leaf.
    package init(layout: CompositeLayout, places: [Place]) { (self.layout, self.places) = (layout, places) }
  }

  /// An entity whose rows may be in the result. Abstract entities have no rows.
  package struct Kind: Sendable {
    /// The entity, as the store's model has it.
    package var entity: ResolvedEntity
    /// `Z_ENT`.
    package var number: Int64
    /// The places by slot.
    package var places: [Place]
  }

  /// The table of the rows.
  package let table: String
  /// The condition for rows of the entities. Nil where all rows of the table count.
  package let entityCondition: String?
  /// The condition that the entity number is that of an entity of the query, also where `entityCondition` is nil.
  private let strictCondition: String
  /// The result columns, with the alias `t0`: key, entity number, version, then values.
  package let columns: [String]
  /// The errors for missing columns (`Place.lost`).
  package let lacks: [GraphError]
  /// The composite attributes (`Place.composite`).
  package let composites: [Composite]
  /// The entities whose rows may be in the result.
  package let kinds: [Kind]
  /// Selects a row by key. The parameter is the key.
  package let pointSelect: String
  /// Selects the rows of a range of keys, in the order of the keys. The parameters are the least and the greatest key.
  /// Used to read many objects whose keys are close together.
  package let rangeSelect: String
  /// For statements over several keys.
  private let dialect: Dialect

  /// Makes the columns of all slots, or of some.
  ///
  /// With `only`, other slots have the place `.null`. Throws the error of a missing table.
  package init(
    _ entity: ResolvedEntity, includesSubentities: Bool, only slots: Set<Slot>? = nil, layout: StoreLayout,
    dialect: Dialect
  ) throws {
    let own = try layout.layout(entity)
    let concrete = (includesSubentities ? layout.subtree(of: entity) : [own]).filter { !$0.entity.isAbstract }
    var places = ColumnPlaces(layout: layout)
    kinds = concrete.map { kind in
      Kind(
        entity: kind.entity, number: kind.number,
        places: zip(kind.entity.properties, kind.slots).map { property, place in
          // A to-many relationship has no column in the owner's row.
          if case .toMany = property.kind { return .null }
          return slots?.contains(property.slot) ?? true ? places.place(place) : .null
        })
    }
    (columns, lacks, composites) = (places.columns, places.lacks, places.composites)
    table = own.table
    strictCondition = Self.condition(concrete)
    entityCondition = Self.holdsAll(concrete, of: own, in: layout) ? nil : strictCondition
    self.dialect = dialect
    let restriction = entityCondition.map { " AND \($0)" } ?? ""
    let selection = "SELECT \(columns.joined(separator: ", ")) FROM \(identifier(table)) t0 WHERE t0.Z_PK"
    pointSelect = dialect.statement("\(selection) = ?\(restriction)")
    rangeSelect = dialect.statement("\(selection) BETWEEN ? AND ?\(restriction) ORDER BY t0.Z_PK")
  }

  /// Selects rows by `keyCount` keys. The parameters are the keys, or an array of them. The rows come in any order.
  package func select(keyCount: Int) -> String {
    dialect.statement(
      "SELECT \(columns.joined(separator: ", ")) FROM \(identifier(table)) t0 WHERE "
        + dialect.isOneOf(keyCount, "t0.Z_PK") + (entityCondition.map { " AND \($0)" } ?? ""))
  }

  /// The condition for a query's entities.
  package func condition(of query: StoreQuery) -> String? {
    query.leavesOutStrayRows ? strictCondition : entityCondition
  }

  /// Whether a table holds the query's entities alone. Core Data does not read `Z_ENT` then, and neither does this
  /// query. A table with subentities needs `Z_ENT`.
  private static func holdsAll(_ concrete: [EntityLayout], of own: EntityLayout, in layout: StoreLayout) -> Bool {
    let root = layout.model.entities[own.entity.root]
    let all = layout.subtree(of: root).filter { !$0.entity.isAbstract }
    return all.count == concrete.count && (!root.hasSubentities || own.entity.index == root.index)
  }

  /// The condition for entity numbers. A query for abstract entities without rows has a condition that is never true.
  private static func condition(_ concrete: [EntityLayout]) -> String {
    let numbers = concrete.map { String($0.number) }
    if numbers.isEmpty { return "t0.Z_ENT IN (NULL)" }
    return numbers.count == 1 ? "t0.Z_ENT = \(numbers[0])" : "t0.Z_ENT IN (\(numbers.joined(separator: ", ")))"
  }
}

/// The result columns, added as needed without duplicates.
private struct ColumnPlaces {
  /// The layout of the store.
  let layout: StoreLayout
  /// The columns so far; the first three are key, entity number and version.
  private(set) var columns = ["t0.Z_PK", "t0.Z_ENT", "t0.Z_OPT"]
  /// The errors of lost properties.
  private(set) var lacks: [GraphError] = []
  /// The composites so far.
  private(set) var composites: [RowSelect.Composite] = []
  /// The indexes of the columns by name.
  private var known: [String: Int32] = [:]

  /// The three columns that every row has.
  init(layout: StoreLayout) { self.layout = layout }

  /// The place of a property, with its columns added.
  mutating func place(_ slot: SlotLayout) -> RowSelect.Place {
    switch slot {
    case .none, .foreignKey, .join: return .null
    case .lost(let lack):
      lacks.append(lack)
      return .lost(lacks.count - 1)
    case .attribute(let column, let kind): return place(column, kind)
    case .composite(let composite):
      let places = composite.leaves.map { place($0.column, $0.kind) }
      composites.append(RowSelect.Composite(layout: composite, places: places))
      return .composite(composites.count - 1)
    case .toOne(let toOne):
      let entity = layout.model.entities[toOne.destination]
      let key = index(of: toOne.column)
      guard entity.hasSubentities, let number = numberOfDestination(toOne, in: entity) else {
        return .toOne(key, entity.symbol)
      }
      let name = toOne.entityColumn ?? "entity by \(toOne.column)"
      return .polymorphic(key, index(of: number, named: name), destinations(entity))
    }
  }

  /// The place of an attribute's column.
  private mutating func place(_ column: String, _ kind: ColumnKind) -> RowSelect.Place {
    let isWide = layout.keepsUTF16 && (kind == .string || kind == .uri)
    return isWide ? .wideText(kind, index(of: column)) : .attribute(kind, index(of: column))
  }

  /// The entity number in the destination's row is decisive. The column beside the key may be stale, and counts where
  /// there is no such row. For example `COALESCE((SELECT COALESCE(d.Z_ENT, 0) FROM ZPARTY d WHERE d.Z_PK = t0.ZOWNER),
  /// t0.Z4_OWNER)`.
  private func numberOfDestination(_ toOne: ToOneLayout, in entity: ResolvedEntity) -> String? {
    let beside = toOne.entityColumn.map { "t0.\(identifier($0))" }
    guard let table = try? layout.layout(entity).table else { return beside }
    let own = "(SELECT COALESCE(d.Z_ENT, 0) FROM \(identifier(table)) d WHERE d.Z_PK = t0.\(identifier(toOne.column)))"
    return beside.map { "COALESCE(\(own), \($0))" } ?? own
  }

  /// The entities of a relationship's destinations.
  private func destinations(_ entity: ResolvedEntity) -> RowSelect.Destinations {
    let unknown = layout.firstConcrete(ofTable: entity) ?? entity
    return RowSelect.Destinations(declared: entity.symbol, root: entity.root, unknown: unknown.symbol)
  }

  /// The index of a column of `t0`.
  private mutating func index(of column: String) -> Int32 { index(of: "t0.\(identifier(column))", named: column) }

  /// The index of an expression, which is added at its first use.
  private mutating func index(of expression: String, named column: String) -> Int32 {
    if let known = known[column] { return known }
    let new = Int32(columns.count)
    columns.append(expression)
    known[column] = new
    return new
  }
}
