import MoonbaseGraph
package import MoonbaseModel

/// Works out a layout: numbers first, then columns, then tables of pairs.
package struct LayoutBuilder {
  let model: ResolvedModel
  let held: [ResolvedEntity]
  /// The file's contents; nil for a file that is about to be made.
  let file: FileSchema?
  private let path: String
  private let dialect: Dialect

  private var numbers: [EntityIndex: Int64] = [:]
  private var tables: [EntityIndex: TableLayout] = [:]
  private var slots: [PropertyID: SlotLayout] = [:]
  private var missing: [EntityIndex: [String]] = [:]
  private var joins: [JoinLayout] = []

  package init(model: ResolvedModel, entities: [ResolvedEntity], file: FileSchema?, path: String = "", dialect: Dialect)
  {
    self.dialect = dialect
    self.path = path
    self.model = model
    held = entities
    self.file = file
  }

  package mutating func build() throws -> StoreLayout {
    try numberEntities()
    for entity in held where entity.parent == nil {
      tables[entity.index] = TableLayout(name: "Z" + entity.name.uppercased())
    }
    for entity in held { try placeColumns(of: entity) }
    for entity in held { placeToMany(of: entity) }
    let result = StoreLayout(
      model: model, entities: model.entities.map { layout(of: $0) }, tables: held.compactMap { tables[$0.index] },
      joins: joins)
    try result.checkNames(dialect)
    return result
  }

  private func layout(of entity: ResolvedEntity) -> EntityLayout? {
    guard let number = numbers[entity.index], let table = tables[entity.root] else { return nil }
    let lineage = model.lineage(of: entity)
    return EntityLayout(
      entity: entity, number: number, table: table.name,
      slots: entity.properties.map { slots[$0.id] ?? .none },
      lack: lineage.lazy.compactMap { missing[$0]?.first }.first.map { lack(of: $0, entity) })
  }

  private func lack(of column: String, _ entity: ResolvedEntity) -> GraphError {
    GraphError(
      .storeFailure,
      message: "\(path) lacks the column \(column): objects of \(entity.name) can be read but not saved",
      entity: entity.name)
  }

  // MARK: Numbers

  /// Numbers are small; arrays are as long as the greatest one.
  private static let possibleNumbers: ClosedRange<Int64> = 1...65_535

  /// Entities are known by name; one whose name is stale in the file (after a renaming migration) by its place in the order.
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

  private func damage(_ what: String, of entity: ResolvedEntity) -> GraphError {
    GraphError(.invalidStore, message: "\(path) is damaged: in Z_PRIMARYKEY (Z_ENT) \(what)", entity: entity.name)
  }

  // MARK: Columns

  private mutating func placeColumns(of entity: ResolvedEntity) throws {
    for property in entity.properties where property.declaringEntity == entity.index && !property.isTransient {
      switch property.kind {
      case .attribute(let attribute): slots[property.id] = try place(attribute, of: entity)
      case .toOne(let relationship): slots[property.id] = place(relationship, of: entity)
      case .toMany: break
      }
    }
  }

  private mutating func place(_ attribute: AttributeDescription, of entity: ResolvedEntity) throws -> SlotLayout {
    guard let kind = ColumnKind(attribute) else {
      throw GraphError(
        .invalidStore,
        message:
          "\(entity.name).\(attribute.name): a \(dialect.engine) store has no column for the type \(attribute.type); make it transient",
        entity: entity.name, property: attribute.name)
    }
    let column = claim("Z" + attribute.name.uppercased(), of: entity)
    guard isPresent(column, of: entity) else { return .none }
    add(column, type: kind.declaredType, rank: kind.rank, name: attribute.name, of: entity)
    return .attribute(column: column, kind: kind)
  }

  private mutating func place(_ relationship: ResolvedRelationship, of entity: ResolvedEntity) -> SlotLayout {
    let name = relationship.description.name
    let column = claim("Z" + name.uppercased(), of: entity)
    guard isPresent(column, of: entity) else { return .none }
    add(column, type: "INTEGER", rank: 1, name: name, of: entity)
    var layout = ToOneLayout(column: column, destination: relationship.destination)
    let destination = model.destination(of: relationship)
    if destination.hasSubentities {
      let wanted = "Z\(numbers[destination.index] ?? 0)_\(column.dropFirst())"
      layout.entityColumn = companion(wanted, of: name, in: entity)
      // A key alone would not tell of which entity the destination is.
      if layout.entityColumn == nil { missing[entity.index, default: []].append(wanted) }
    }
    if let slot = relationship.inverseSlot, case .toMany(let inverse) = destination.properties[slot].kind,
      inverse.description.isOrdered
    {
      layout.orderColumn = companion("Z_FOK_\(column.dropFirst())", of: name, in: entity)
    }
    return .toOne(layout)
  }

  private mutating func companion(_ wanted: String, of name: String, in entity: ResolvedEntity) -> String? {
    let column = claim(wanted, of: entity)
    if let file, let table = tables[entity.root], !file.has(column, in: table.name) { return nil }
    add(column, type: "INTEGER", rank: 1, name: name, of: entity)
    return column
  }

  private mutating func claim(_ name: String, of entity: ResolvedEntity) -> String {
    tables[entity.root]?.claim(name) ?? name
  }

  private mutating func isPresent(_ column: String, of entity: ResolvedEntity) -> Bool {
    guard let file, let table = tables[entity.root], !file.has(column, in: table.name) else { return true }
    missing[entity.index, default: []].append(column)
    return false
  }

  private mutating func add(_ column: String, type: String, rank: Int, name: String, of entity: ResolvedEntity) {
    tables[entity.root]?.columns.append(
      .init(name: column, type: type, rank: rank, entity: entity.index, sortName: name.lowercased()))
  }

  // MARK: To-many relationships

  private mutating func placeToMany(of entity: ResolvedEntity) {
    for slot in entity.toManySlots where entity.properties[slot].declaringEntity == entity.index {
      let property = entity.properties[slot]
      guard !property.isTransient, let relationship = property.relationship else { continue }
      let destination = model.destination(of: relationship)
      let inverse = relationship.inverseSlot.map { destination.properties[$0] }
      if let inverse, !relationship.isInverseToMany {
        if case .toOne(let layout) = slots[inverse.id] {
          slots[property.id] = .foreignKey(layout, destination: relationship.destination)
        }
      } else if slots[property.id] == nil {
        placeJoin(relationship, key: property.id, inverse: inverse, owner: entity)
      }
    }
  }

  private mutating func placeJoin(
    _ relationship: ResolvedRelationship, key: PropertyID, inverse: ResolvedProperty?, owner: ResolvedEntity
  ) {
    let inverseKey = inverse?.id
    let namer = JoinNamer(
      owner: numbers[owner.index] ?? 0, relationship: relationship.description,
      other: numbers[inverseKey?.entity ?? relationship.destination] ?? 0, inverse: inverse?.relationship?.description,
      isReflexive: inverseKey == key)
    guard var layout = namer.layout(in: file) else {
      slots[key] = .lost(lost(namer, relationship: relationship, of: owner))
      return
    }
    layout.destination = relationship.destination
    slots[key] = .join(layout)
    joins.append(layout)
    guard let inverseKey, inverseKey != key, let inverse = inverse?.relationship else { return }
    slots[inverseKey] = .join(namer.reversed(layout, in: file, destination: inverse.destination))
  }
}

extension LayoutBuilder {
  private func lost(
    _ namer: JoinNamer, relationship: ResolvedRelationship, of owner: ResolvedEntity
  ) -> GraphError {
    let name = relationship.description.name
    return GraphError(
      .invalidStore,
      message: "\(path) is damaged: \(namer.lack(in: file)) for \(owner.name).\(name); "
        + "without it the relationship cannot be read, and objects of \(owner.name) cannot be saved",
      entity: owner.name, property: name)
  }
}

extension ResolvedModel {
  /// The indexes of an entity and its ancestors, the topmost first.
  fileprivate func lineage(of entity: ResolvedEntity) -> [Int] {
    Array(sequence(first: entity.index) { self.entities[$0].parent }.reversed())
  }
}
