import MoonbaseGraph
package import MoonbaseModel

/// Builds the layout of a store: first entity numbers, then columns, then pair tables.
///
/// A builder is used once: `build()` fills its parts and returns a `StoreLayout`. For a new file (`file` is nil) names
/// are made by Core Data's rules; for an existing file they are looked up, and features that the file lacks become
/// errors of the affected properties instead of a refusal of the whole file.
package struct LayoutBuilder {
  /// The model that opens the store.
  let model: ResolvedModel
  /// The entities that the store holds, in the order of the model, parents before subentities.
  let held: [ResolvedEntity]
  /// The schema of the file. Nil for a file that is about to be made.
  let file: FileSchema?
  /// The file, for messages.
  private let path: String
  /// The engine's dialect, for limits and messages.
  private let dialect: Dialect

  /// `Z_ENT` by entity.
  private var numbers: [EntityIndex: Int64] = [:]
  /// The tables by the index of their root entity. Nil for subentities.
  private var tables: [TableLayout?]
  /// The tables that the file has, in the same order.
  private var found: [FileSchema.Table?]
  /// The place of each property.
  private var slots: PropertySlots
  /// The features that the file lacks, collected on the way.
  private var lacks = LayoutLacks()
  /// The pair tables, each once.
  private var joins: [JoinLayout] = []

  /// The columns of elements by `Entity.attribute.element`, from the file's metadata.
  private let elementColumns: [String: String]

  /// Makes a builder for the entities that a store holds. `elementColumns` and `path` are known for existing files
  /// only.
  package init(
    model: ResolvedModel, entities: [ResolvedEntity], file: FileSchema?, elementColumns: [String: String] = [:],
    path: String = "", dialect: Dialect
  ) {
    self.elementColumns = elementColumns
    self.dialect = dialect
    self.path = path
    self.model = model
    tables = Array(repeating: nil, count: model.entities.count)
    found = Array(repeating: nil, count: model.entities.count)
    slots = PropertySlots(model)
    held = entities
    self.file = file
  }

  /// Builds the layout. Throws where the file or the model is invalid.
  ///
  /// The order matters: composites take columns that other properties left, and to-many relationships refer to the
  /// to-one columns of their inverses. Throws `.invalidStore` for damaged entity numbers, types without a column in a
  /// new file, and names that would clash.
  package mutating func build() throws -> StoreLayout {
    try numberEntities()
    try placeColumns(inOrderOfNames: false)
    // Names that differ only in case get numbers. The numbers must not depend on the order in which a model lists its
    // properties: the model in the store may have another one.
    if tables.contains(where: { $0?.hasCollision == true }) { try placeColumns(inOrderOfNames: true) }
    for entity in held { try placeComposites(of: entity) }
    for entity in held { placeToMany(of: entity) }
    var result = StoreLayout(
      model: model, entities: model.entities.map { layout(of: $0) }, tables: held.compactMap { tables[$0.index] },
      joins: joins, numbers: numbers, lacks: lacks)
    try result.checkNames(dialect)
    if dialect.keepsRTrees { result.rTrees = result.declaredRTrees() }
    return result
  }

  /// Nil for an entity whose table the file lacks.
  private func layout(of entity: ResolvedEntity) -> EntityLayout? {
    guard lacks.tables[entity.root] == nil, let number = numbers[entity.index], let table = tables[entity.root] else {
      return nil
    }
    return EntityLayout(
      entity: entity, number: number, table: table.name, slots: entity.properties.map { slots[$0.id] ?? .none },
      polymorphicSlots: Set(entity.toOneSlots.filter { isPolymorphic(entity.properties[$0]) }))
  }

  /// Whether the destinations of a to-one relationship may be of several entities.
  private func isPolymorphic(_ property: ResolvedProperty) -> Bool {
    guard case .toOne(let relationship) = property.kind, !property.isTransient else { return false }
    return model.destination(of: relationship).hasSubentities
  }

  // MARK: Numbers

  /// Numbers are small, and arrays have the length of the greatest number.
  private static let possibleNumbers: ClosedRange<Int64> = 1...65_535

  /// Finds entities by name. An entity whose name in the file is stale, after a renaming migration, is found by its
  /// place in the order.
  ///
  /// New files number the entities from 1 in their order. Throws `.invalidStore` for numbers outside `possibleNumbers`
  /// and for a number of two entities.
  private mutating func numberEntities() throws {
    let known = file?.numbers ?? [:]
    for entity in held {
      guard let number = known[entity.name] else { continue }
      numbers[entity.index] = number
    }
    for (place, entity) in held.enumerated() where numbers[entity.index] == nil {
      numbers[entity.index] = Int64(place + 1)
    }
    var names: [Int64: String] = [:]
    for entity in held {
      guard let number = numbers[entity.index] else { continue }
      guard Self.possibleNumbers.contains(number) else {
        throw damage("\(entity.name) has the number \(number), which no entity has", of: entity)
      }
      if let other = names.updateValue(entity.name, forKey: number) {
        throw damage("\(other) and \(entity.name) have the same number \(number)", of: entity)
      }
    }
  }

  /// The error of wrong entity numbers.
  private func damage(_ what: String, of entity: ResolvedEntity) -> GraphError {
    GraphError(.invalidStore, message: "\(path) is damaged: in Z_PRIMARYKEY (Z_ENT) \(what)", entity: entity.name)
  }

  // MARK: Columns

  /// Begins all tables, and places attributes and to-one relationships.
  private mutating func placeColumns(inOrderOfNames: Bool) throws {
    (lacks, slots) = (LayoutLacks(), PropertySlots(model))
    for entity in held where entity.parent == nil {
      let table = TableLayout(name: "Z" + entity.name.uppercased(), expecting: entity.properties.count)
      tables[entity.index] = table
      found[entity.index] = file?.tables[table.name]
      if file != nil, found[entity.index] == nil { lacks.note(table: table.name, of: entity, path: path) }
    }
    for entity in held {
      let properties =
        inOrderOfNames ? entity.properties.sorted { $0.name.literallyPrecedes($1.name) } : entity.properties
      try place(properties, of: entity)
    }
  }

  /// Places the attributes and to-one relationships that the entity declares itself.
  private mutating func place(_ properties: [ResolvedProperty], of entity: ResolvedEntity) throws {
    for property in properties where property.declaringEntity == entity.index && !property.isTransient {
      if let type = property.attributeType {
        if type != .composite { slots[property.id] = try place(property, type, of: entity) }
      } else if let relationship = property.relationship, !relationship.isToMany {
        slots[property.id] = place(relationship, named: property.name, of: entity)
      }
    }
  }

  /// The column of an attribute: `Z` and the name in upper case.
  private mutating func place(
    _ property: ResolvedProperty, _ type: AttributeType, of entity: ResolvedEntity
  ) throws -> SlotLayout {
    guard
      let kind = ColumnKind(type, isExternal: property.attribute?.allowsExternalBinaryDataStorage ?? false)
    else {
      guard let attribute = property.attribute else { return .none }
      if file != nil {
        return .lost(lacks.noteForm(of: attribute, entity: entity, table: table(of: entity), path: path))
      }
      throw GraphError(
        .invalidStore,
        message:
          "\(entity.name).\(attribute.name): a \(dialect.engine) store has no column for the type \(attribute.type); make it transient",
        entity: entity.name, property: attribute.name)
    }
    let column = claim("Z" + property.name.uppercased(), of: entity)
    if let lack = lack(column, kind, of: property.name, in: entity) { return .lost(lack) }
    add(column, kind, rank: kind.rank, name: property.name, of: entity)
    return .attribute(column: column, kind: kind)
  }

  /// The column of a to-one relationship, with its companions: the destination's entity and the place in an ordered
  /// inverse.
  private mutating func place(
    _ relationship: ResolvedRelationship, named name: String, of entity: ResolvedEntity
  ) -> SlotLayout {
    let column = claim("Z" + name.uppercased(), of: entity)
    if let lack = lack(column, nil, of: name, in: entity) { return .lost(lack) }
    add(column, nil, rank: 1, name: name, of: entity)
    var layout = ToOneLayout(column: column, destination: relationship.destination)
    let destination = model.destination(of: relationship)
    if destination.hasSubentities {
      let wanted = "Z\(numbers[destination.index] ?? 0)_\(column.dropFirst())"
      layout.entityColumn = companion(wanted, "the entity of \(entity.name).\(name)", of: name, in: entity)
    }
    if let slot = relationship.inverseSlot, case .toMany(let inverse) = destination.properties[slot].kind,
      inverse.description.isOrdered
    {
      let places = "the places of \(destination.name).\(inverse.description.name)"
      layout.orderColumn = companion("Z_FOK_\(column.dropFirst())", places, of: name, in: entity)
    }
    return .toOne(layout)
  }

  /// A further column of a relationship, and its content. Nil where the file lacks the column; the relationship itself
  /// can still be read.
  private mutating func companion(
    _ wanted: String, _ content: String, of name: String, in entity: ResolvedEntity
  ) -> String? {
    let column = claim(wanted, of: entity)
    if lack(column, nil, of: name, holding: content, in: entity) != nil { return nil }
    add(column, nil, rank: 1, name: name, of: entity)
    return column
  }

  /// Reserves a column's name in the entity's table.
  private mutating func claim(_ name: String, of entity: ResolvedEntity) -> String {
    tables[entity.root]?.claim(name) ?? name
  }

  /// The name of the entity's table.
  private func table(of entity: ResolvedEntity) -> String { tables[entity.root]?.name ?? "" }

  /// The error for a column that the file lacks, or that has another type. Nil where the column is right. Notes the
  /// lack as a feature that the file does not have.
  private mutating func lack(
    _ column: String, _ kind: ColumnKind?, of property: String, holding content: String? = nil,
    in entity: ResolvedEntity
  ) -> GraphError? {
    if let lack = lacks.tables[entity.root] { return lack }
    guard file != nil else { return nil }
    return lack(column, kind, in: found[entity.root], named: table(of: entity), holding: content, of: property, entity)
  }

  /// The error for a column of a table in the file.
  private mutating func lack(
    _ column: String, _ kind: ColumnKind?, in table: FileSchema.Table?, named name: String,
    holding content: String? = nil, of property: String, _ entity: ResolvedEntity
  ) -> GraphError? {
    let (place, type) = (table?.place(column), dialect.type(kind))
    var present: String?
    if let place {
      guard dialect.hasColumnTypes, let found = table?.types?[place], found != type else { return nil }
      present = found
    }
    return lacks.note(
      LayoutLacks.Column(name: column, type: type, present: present, table: name, in: file),
      holding: content, of: property, entity: entity, path: path)
  }

  /// Adds a column to the declaration of the table.
  private mutating func add(_ column: String, _ kind: ColumnKind?, rank: Int, name: String, of entity: ResolvedEntity) {
    tables[entity.root]?.columns.append(
      .init(name: column, type: dialect.type(kind), rank: rank, entity: entity.index, property: name))
  }

  // MARK: Composites

  /// Places elements after all other properties of the table, whose columns then do not depend on them. The order is by
  /// entity and by the path of the element.
  private mutating func placeComposites(of entity: ResolvedEntity) throws {
    let composites = entity.properties.filter {
      $0.attributeType == .composite && $0.declaringEntity == entity.index && !$0.isTransient
    }
    for property in composites.sorted(by: { $0.name.literallyPrecedes($1.name) }) {
      guard let attribute = property.attribute else { continue }
      if let lack = lacks.tables[entity.root] {
        slots[property.id] = .lost(lack)
      } else {
        slots[property.id] =
          try file == nil ? newComposite(attribute, of: entity) : foundComposite(attribute, of: entity)
      }
    }
  }

  /// Throws `.invalidStore` for a composite with elements that no column can hold.
  private mutating func newComposite(_ attribute: AttributeDescription, of entity: ResolvedEntity) throws -> SlotLayout
  {
    let name = "\(entity.name).\(attribute.name)"
    if let obstacle = CompositeLayout.obstacle(attribute) {
      throw GraphError(
        .invalidStore,
        message:
          "\(name): a \(dialect.engine) store has no columns for it: \(obstacle); change that, or make it transient",
        entity: entity.name, property: attribute.name)
    }
    let layout = CompositeLayout(attribute) { claim("Z" + ($0.path.last ?? "").uppercased(), of: entity) }
    add(layout, of: entity)
    return .composite(layout)
  }

  /// Finds the elements in a file: as its metadata says, or in the only columns with possible names.
  private mutating func foundComposite(_ attribute: AttributeDescription, of entity: ResolvedEntity) -> SlotLayout {
    var search = ElementSearch(
      attribute, entity: entity.name, columns: found[entity.root]?.columns ?? [],
      taken: tables[entity.root]?.takenNames ?? [], stated: elementColumns,
      wanters: ElementSearch.wanters(in: held.filter { $0.root == entity.root }, stated: elementColumns))
    guard let layout = search.layout() else {
      return .lost(
        lacks.note(
          elements: search.obstacle, of: attribute, entity: entity, table: table(of: entity), path: path))
    }
    for leaf in layout.leaves {
      _ = claim(leaf.column, of: entity)
      if let lack = lack(leaf.column, leaf.kind, of: attribute.name, in: entity) { return .lost(lack) }
    }
    add(layout, of: entity)
    return .composite(layout)
  }

  /// Adds the columns of all elements.
  private mutating func add(_ layout: CompositeLayout, of entity: ResolvedEntity) {
    for leaf in layout.leaves {
      add(leaf.column, leaf.kind, rank: leaf.kind.rank, name: leaf.attribute.name, of: entity)
    }
  }

  // MARK: To-many relationships

  /// Places to-many relationships: in the to-one column of the inverse, or in a pair table.
  private mutating func placeToMany(of entity: ResolvedEntity) {
    for slot in entity.toManySlots where entity.properties[slot].declaringEntity == entity.index {
      let property = entity.properties[slot]
      guard !property.isTransient, let relationship = property.relationship else { continue }
      let destination = model.destination(of: relationship)
      let inverse = relationship.inverseSlot.map { destination.properties[$0] }
      if let inverse, !relationship.isInverseToMany {
        switch slots[inverse.id] {
        case .toOne(let layout): slots[property.id] = .foreignKey(layout, destination: relationship.destination)
        case .lost(let lack): slots[property.id] = .lost(lack)
        default: break
        }
      } else if slots[property.id] == nil {
        placeJoin(relationship, key: property.id, inverse: inverse, owner: entity)
      }
    }
  }

  /// Places a many-to-many relationship and its inverse together.
  private mutating func placeJoin(
    _ relationship: ResolvedRelationship, key: PropertyID, inverse: ResolvedProperty?, owner: ResolvedEntity
  ) {
    let inverseKey = inverse?.id
    let namer = JoinNamer(
      owner: numbers[owner.index] ?? 0, relationship: relationship.description,
      other: numbers[inverseKey?.entity ?? relationship.destination] ?? 0, inverse: inverse?.relationship?.description,
      isReflexive: inverseKey == key)
    guard var layout = namer.layout(in: file) else {
      let lack = lacks.note(
        pairs: namer.lack(in: file), table: namer.table, of: relationship.description.name, entity: owner, path: path)
      slots[key] = .lost(lack)
      return
    }
    if let lack = lackOfType(in: layout, of: relationship.description.name, owner) {
      slots[key] = .lost(lack)
      if let inverseKey { slots[inverseKey] = .lost(lack) }
      return
    }
    layout.destination = relationship.destination
    notePlaces(in: layout, of: relationship, entity: owner)
    slots[key] = .join(layout)
    joins.append(layout)
    guard let inverseKey, inverseKey != key, let inverse = inverse?.relationship else { return }
    let reversed = namer.reversed(layout, in: file, destination: inverse.destination)
    notePlaces(in: reversed, of: inverse, entity: model.entities[inverseKey.entity])
    slots[inverseKey] = .join(reversed)
  }

  /// The error for a column of a pair table that has another type.
  private mutating func lackOfType(
    in join: JoinLayout, of name: String, _ entity: ResolvedEntity
  ) -> GraphError? {
    guard let table = file?.tables[join.table.uppercased()] else { return nil }
    for column in [join.ownerColumn, join.destinationColumn, join.orderColumn].compactMap(\.self) {
      if let lack = lack(column, nil, in: table, named: join.table, of: name, entity) { return lack }
    }
    return nil
  }

  /// Notes that a pair table has no column for the places of a list. Reading gives the destinations in no order then.
  private mutating func notePlaces(
    in join: JoinLayout, of relationship: ResolvedRelationship, entity: ResolvedEntity
  ) {
    guard relationship.description.isOrdered, join.orderColumn == nil else { return }
    let name = relationship.description.name
    _ = lacks.note(
      LayoutLacks.Column(
        name: JoinNamer.orderName(of: join.destinationColumn), type: dialect.type(nil), table: join.table,
        in: file),
      holding: "the places of \(entity.name).\(name)", of: name, entity: entity, path: path)
  }
}

/// The places found so far for each property, by its declaring entity. Inherited properties are found under the entity
/// that declares them.
private struct PropertySlots {
  /// By entity index, then by slot.
  private var slots: [[SlotLayout?]]

  /// A table without places.
  init(_ model: ResolvedModel) { slots = model.entities.map { Array(repeating: nil, count: $0.properties.count) } }

  subscript(id: PropertyID) -> SlotLayout? {
    get { slots[id.entity][id.slot] }
    set { slots[id.entity][id.slot] = newValue }
  }
}
