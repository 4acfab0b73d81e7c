import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// The column with the positions of an ordered relationship's destinations.
///
/// Made for a check or a repair. The column is `Z_FOK_…`, in the table of the destinations or in the pair table
/// (`OrderStatements`).
struct OrderedPlaces {
  /// The relationship, and the entity that declares it.
  let property: ResolvedProperty
  /// The layout of the owner.
  let owner: EntityLayout
  /// The column with the positions.
  let column: String
  /// The column with the owner's key.
  let ownerColumn: String
  /// Reads and writes positions.
  let statements: OrderStatements
  /// The quoted table with both columns.
  private let source: String

  /// The columns of all ordered relationships, except those missing in the file.
  static func all(of layout: StoreLayout) -> [OrderedPlaces] {
    layout.entities.compactMap(\.self).flatMap { owner in
      zip(owner.entity.properties, owner.slots).compactMap { property, slot in
        property.declaringEntity == owner.entity.index
          ? OrderedPlaces(of: property, at: slot, owner: owner, in: layout) : nil
      }
    }
  }

  /// Nil for a relationship without positions in the file.
  private init?(of property: ResolvedProperty, at slot: SlotLayout, owner: EntityLayout, in layout: StoreLayout) {
    switch slot {
    case .foreignKey(let toOne, let destination):
      guard let column = toOne.orderColumn, let members = layout.entities[destination] else { return nil }
      (self.column, ownerColumn, source) = (column, toOne.column, identifier(members.table))
      statements = OrderStatements(toOne, table: members.table, column: column, dialect: .sqlite)
    case .join(let join):
      guard let column = join.orderColumn else { return nil }
      (self.column, ownerColumn, source) = (column, join.ownerColumn, identifier(join.table))
      statements = OrderStatements(join, column: column, dialect: .sqlite)
    case .attribute, .composite, .none, .toOne, .lost: return nil
    }
    (self.property, self.owner) = (property, owner)
  }

  /// Selects owners with the number of destinations, and the number without a position of their own.
  var unordered: String {
    let (owner, place) = (identifier(ownerColumn), identifier(column))
    return "SELECT \(owner), COUNT(*), COUNT(*) - COUNT(DISTINCT \(place)) FROM \(source) WHERE \(owner) IS NOT NULL "
      + "GROUP BY 1 HAVING COUNT(*) > COUNT(DISTINCT \(place)) ORDER BY 1"
  }
}

/// The checks of ordered lists and of derived values.
extension StoreCheck {
  /// Finds lists in which members have no position or share one, so that their order is random.
  func checkOrder() throws {
    for places in OrderedPlaces.all(of: layout) {
      let statement = try connection.statement(places.unordered)
      defer { statement.reset() }
      while try statement.step() {
        try HostWork.charge(1 + Int(statement.integer(1)))
        try tell(
          StoreFinding(
            kind: .order, of: id(statement, places.owner), in: places.owner.table,
            message: "\(places.property.name): of \(statement.integer(1)) objects \(statement.integer(2)) "
              + "\(statement.integer(2) == 1 ? "has" : "have") no place of \(statement.integer(2) == 1 ? "its" : "their") own",
            repair: .file))
      }
    }
  }

  // MARK: Derived attributes

  /// The attributes of an entity whose values `checkDerivations` compares, by slot. `checkRows` leaves mismatches of
  /// these attributes to that check, which can repair them.
  func derivedSlots(of entity: EntityLayout) -> Set<Slot> {
    Set(
      layout.model.storedDerivations(of: entity.entity).compactMap { derivation in
        if case .now = derivation.result { return nil }
        guard let declaring = layout.entities[entity.entity.properties[derivation.slot].declaringEntity],
          derivation.differences(of: declaring, layout: layout, dialect: .sqlite) != nil
        else { return nil }
        return derivation.slot
      })
  }

  /// Finds stored derived values that differ from the result of their derivation. Attributes with the time of the last
  /// save cannot be compared.
  func checkDerivations(of entity: EntityLayout) throws {
    for derivation in layout.model.storedDerivations(of: entity.entity) {
      if case .now = derivation.result { continue }
      guard let differences = derivation.differences(of: entity, layout: layout, dialect: .sqlite) else { continue }
      let attribute = entity.entity.properties[derivation.slot]
      let statement = try connection.statement(differences)
      defer { statement.reset() }
      while try statement.step() {
        try HostWork.charge(2)
        let expression = attribute.attribute?.derivationExpression ?? ""
        let fits = statement.integer(3) != 0
        let advice = attribute.derivedMisfitAdvice.map { fits ? "" : ", which is \($0)" } ?? ""
        func shown(_ column: Int32) -> String { statement.isNull(column) ? "nothing" : statement.text(column) }
        try tell(
          StoreFinding(
            kind: .derived, of: id(statement, entity), in: entity.table,
            message:
              "\(attribute.name) holds \(shown(1)), and \(expression) gives \(shown(2))\(advice)",
            repair: fits ? .file : .none))
      }
    }
  }
}
