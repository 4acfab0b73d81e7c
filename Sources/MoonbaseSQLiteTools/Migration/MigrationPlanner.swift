import MoonbaseGraph
package import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Examines the rows of an old file and plans a migration.
///
/// Used up by `make()`: the plan grows while entities and properties are visited. Everything is read by queries over
/// whole tables, so the time grows with the rows but memory does not.
struct MigrationPlanner {
  /// The old and new entities.
  let map: MigrationMap
  /// The mapping, inferred or given.
  let mapping: MappingModel
  /// Reads the old file.
  let connection: Connection
  /// Functions that test whether values can be converted.
  let conversions: ColumnConversions
  /// The path of the store, for messages.
  let path: String
  /// Counts rows that lose values.
  let counter: LossCounter
  /// The plan so far.
  private(set) var plan = MigrationPlan()

  /// Reads nothing yet.
  init(
    _ map: MigrationMap, mapping: MappingModel, on connection: Connection, conversions: ColumnConversions, path: String
  ) {
    (self.map, self.mapping, self.connection) = (map, mapping, connection)
    (self.conversions, self.path) = (conversions, path)
    counter = LossCounter(map: map, connection: connection)
  }

  /// Makes the plan. Throws `.invalidStore` for rows that belong to no entity.
  mutating func make() throws -> MigrationPlan {
    try checkNumbers()
    for entity in map.entities { try add(entity) }
    for entity in map.removed { try remove(entity) }
    let added = mapping.entityMappings.filter { $0.kind == .add }.compactMap(\.destinationEntityName)
    plan.steps += added.filter { map.new.held($0) != nil }.map {
      MigrationPlan.Step(kind: .add, sourceEntityName: nil, destinationEntityName: $0, rowCount: 0)
    }
    for (entity, property) in map.new.keptProperties where property.relationship?.isToMany == false {
      try countMembers(of: property, in: entity)
    }
    plan.conflicts = try UniquenessCheck(map: map, conversions: conversions, connection: connection).conflicts()
    return plan
  }

  /// Throws if rows belong to no entity of the model, because they would be left behind. Only tables with several
  /// entities have such rows.
  private func checkNumbers() throws {
    for table in Set(map.old.entities.compactMap { $0?.table }).sorted() {
      let numbers = map.old.entities.compactMap { $0 }.filter { $0.table == table }.map { "\($0.number)" }
      guard numbers.count > 1 else { continue }
      let condition = "Z_ENT IS NULL OR Z_ENT NOT IN (\(numbers.joined(separator: ", ")))"
      guard let lost = try counter.count("SELECT COUNT(*), MIN(Z_PK) FROM \(map.oldTable(table)) WHERE \(condition)")
      else {
        continue
      }
      throw GraphError(
        .invalidStore,
        message:
          "\(path) is damaged: row \(lost.first) of \(table), and \(lost.count - 1) more, has a Z_ENT that no entity of "
          + "the model has, and would be lost: put it right, or delete the row, and migrate then")
    }
  }

  // MARK: Entities

  /// Adds the step and the losses of an entity whose rows stay. The changes of properties are in the order of the new
  /// entity.
  private mutating func add(_ migration: EntityMigration) throws {
    let table = map.oldTable(migration.old.table)
    let condition = map.condition(migration.old)
    let rows = Int(try connection.integer("SELECT COUNT(*) FROM \(table) WHERE \(condition)") ?? 0)
    var step = MigrationPlan.Step(
      kind: migration.mapping.kind, sourceEntityName: migration.old.entity.name,
      destinationEntityName: migration.new.entity.name, rowCount: rows)
    for property in migration.new.entity.properties where !property.isTransient {
      if let change = try change(of: property, in: migration) { step.changes.append(change) }
      try countLosses(of: property, in: migration)
    }
    step.changes += try remove(from: migration)
    step.changes += indexChanges(from: migration.old.entity.description, to: migration.new.entity.description)
    plan.steps.append(step)
  }

  /// The change of a property for the entity's step; nil if it is unchanged. For example `~ age: string → integer16`.
  private func change(of property: ResolvedProperty, in migration: EntityMigration) throws -> String? {
    guard let origin = migration.origin(of: property) else { return "+ \(property.name)" }
    let old = origin.property
    let was = old.name == property.name ? "" : " (was \(old.name))"
    if let composite = CompositeMigration(property, of: migration), !composite.changes.isEmpty {
      return "~ \(property.name)\(was): \(composite.changes.joined(separator: ", "))"
    }
    if let type = property.attributeType, let before = old.attributeType {
      if before != type { return "~ \(property.name)\(was): \(before.modelName) → \(type.modelName)" }
      if ColumnConversion(property, of: migration) != nil { return "~ \(property.name)\(was): external storage" }
    } else if let new = property.relationship, let before = old.relationship, new.isToMany != before.isToMany {
      return "~ \(property.name)\(was): \(new.isToMany ? "to-one → to-many" : "to-many → to-one")"
    }
    let filled = try filledCount(property, from: origin, in: migration)
    if filled > 0 { return "~ \(property.name)\(was): \(filled) row\(filled == 1 ? " gets its" : "s get its") default" }
    return was.isEmpty ? nil : "~ \(property.name)\(was)"
  }

  /// The number of rows that get the default value of an attribute that is now required. 0 for attributes that were
  /// required before or have no default.
  private func filledCount(
    _ property: ResolvedProperty, from origin: (property: ResolvedProperty, slot: SlotLayout),
    in migration: EntityMigration
  ) throws -> Int {
    guard !property.isOptional, origin.property.isOptional, let attribute = property.attribute,
      !attribute.defaultValue.isNull, !property.isDerived, case .attribute(let column, _) = origin.slot
    else { return 0 }
    return try counter.count("\(counter.rows(of: migration.old)) \(identifier(column)) IS NULL")?.count ?? 0
  }

  /// The changes of an entity's own indexes and uniqueness constraints, which change no rows. For example `+ index
  /// byName`.
  private func indexChanges(from old: EntityDescription, to new: EntityDescription) -> [String] {
    let (before, now) = (old.indexes.map(\.name), new.indexes.map(\.name))
    let changed = new.indexes.filter { index in before.contains(index.name) && !old.indexes.contains(index) }.map(
      \.name)
    let (unique, others) = (new.uniquenessConstraints, old.uniquenessConstraints)
    func names(_ constraint: [String]) -> String { "uniqueness of \(constraint.joined(separator: ", "))" }
    return now.filter { !before.contains($0) }.map { "+ index \($0)" } + changed.map { "~ index \($0)" }
      + before.filter { !now.contains($0) }.map { "- index \($0)" }
      + unique.filter { !others.contains($0) }.map { "+ \(names($0))" }
      + others.filter { !unique.contains($0) }.map { "- \(names($0))" }
  }

  /// Adds the step and the loss of an entity whose rows are removed. The reason depends on the entity's fate in the
  /// newer model.
  private mutating func remove(_ entity: EntityLayout) throws {
    let found = try counter.count(
      "SELECT COUNT(*), MIN(Z_PK) FROM \(map.oldTable(entity.table)) WHERE \(map.condition(entity))")
    plan.steps.append(
      MigrationPlan.Step(
        kind: .remove, sourceEntityName: entity.entity.name, destinationEntityName: nil, rowCount: found?.count ?? 0))
    guard let found else { return }
    let successor = mapping.entityMappings.first { $0.sourceEntityName == entity.entity.name }?.destinationEntityName
    let reason =
      switch successor {
      case nil: "the newer model has no such entity"
      case let name? where map.new.held(name) == nil: "the configuration does not hold \(name)"
      default: "the entity is abstract now"
      }
    note(found, entity: entity, property: nil, "would go, because \(reason)")
  }

  // MARK: Losses

  /// Counts rows whose value in a property cannot be kept or is missing. Inconvertible values, missing required values,
  /// and destinations of entities that the relationship no longer accepts.
  private mutating func countLosses(of property: ResolvedProperty, in migration: EntityMigration) throws {
    let head = counter.rows(of: migration.old)
    if let conversion = ColumnConversion(property, of: migration),
      let loses = try conversions.loses(conversion, on: connection),
      let found = try counter.count("\(head) \(loses) = 1")
    {
      let type = property.attributeType?.modelName ?? ""
      note(
        found, entity: migration.old, property: conversion.property,
        "hold\(found.count == 1 ? "s" : "") what \(type) cannot keep")
    }
    if let composite = CompositeMigration(property, of: migration) {
      try countLosses(of: composite, in: migration, head: head)
    }
    if try countMissing(property, in: migration, head: head) { return }
    guard let before = map.isCopied(property, of: migration), case .toOne(let now) = migration.new.slots[property.slot],
      let number = before.entityColumn
    else { return }
    let strangers = map.destinationNumbers(from: before.destination, to: now.destination).filter { pair in
      pair.new == nil && map.old.entity(number: pair.old).flatMap { map.successor(of: $0.entity.index) } != nil
    }
    guard !strangers.isEmpty else { return }
    let list = strangers.map { "\($0.old)" }.joined(separator: ", ")
    guard let found = try counter.count("\(head) \(identifier(number)) IN (\(list))") else { return }
    note(
      found, entity: migration.old, property: property,
      "lead\(found.count == 1 ? "s" : "") to an object that the relationship cannot lead to any more")
  }

  /// Counts rows with values in removed or inconvertible elements of a composite, and rows that lack a newly required
  /// element. An element is required if its type is not optional and the composite has a value.
  private mutating func countLosses(
    of composite: CompositeMigration, in migration: EntityMigration, head: String
  ) throws {
    for leaf in composite.removed {
      guard let found = try counter.count("\(head) \(identifier(leaf.column)) IS NOT NULL") else { continue }
      note(
        found, element: leaf, of: composite, in: migration,
        "hold\(found.count == 1 ? "s" : "") a value, and the newer model has no such element")
    }
    for leaf in composite.new.leaves {
      let before = composite.origin(of: leaf)
      if let conversion = composite.conversion(of: leaf),
        let loses = try conversions.loses(conversion, on: connection),
        let found = try counter.count("\(head) \(loses) = 1")
      {
        note(
          found, element: before ?? leaf, of: composite, in: migration,
          "hold\(found.count == 1 ? "s" : "") what \(leaf.attribute.type.modelName) cannot keep")
      }
      guard !leaf.attribute.isOptional, before?.attribute.isOptional ?? true else { continue }
      let lacks = before.map { " AND \(identifier($0.column)) IS NULL" } ?? ""
      guard let found = try counter.count("\(head) \(composite.old.presence)\(lacks)") else { continue }
      note(
        found, element: before ?? leaf, of: composite, in: migration,
        "ha\(found.count == 1 ? "s" : "ve") no value, and one is required")
    }
  }

  /// Notes the loss of an element.
  private mutating func note(
    _ found: LossCounter.Found, element leaf: CompositeLayout.Leaf, of composite: CompositeMigration,
    in migration: EntityMigration, _ reason: String
  ) {
    note(
      MigrationPlan.Loss(
        entity: migration.old.entity.name,
        property: ([composite.property.name] + leaf.path).joined(separator: "."), reason: reason, rowCount: found.count,
        firstKey: found.first))
  }

  /// Counts rows without a newly required value; returns false if the property has no new requirement. Attributes with
  /// a default value get it, so nothing is missing.
  private mutating func countMissing(
    _ property: ResolvedProperty, in migration: EntityMigration, head: String
  ) throws -> Bool {
    let origin = migration.origin(of: property)
    guard property.isRequired, origin?.property.isRequired != true else { return false }
    let condition: String
    if let attribute = property.attribute {
      // The values of derived attributes are computed.
      guard attribute.defaultValue.isNull, attribute.derivationExpression == nil else { return false }
      if case .value(let value)? = migration.source(of: property), !value.isNull { return false }
      switch origin?.slot {
      case .attribute(let column, _)?: condition = "\(identifier(column)) IS NULL"
      case .composite(let composite)?: condition = "NOT \(composite.presence)"
      default: condition = "1"
      }
    } else if let pairs = map.pairs(of: property, in: declaring(property, of: migration.new)) {
      condition = "Z_PK NOT IN (SELECT owner FROM (\(pairs.sql)))"
    } else {
      condition = "1"
    }
    guard let found = try counter.count("\(head) \(condition)") else { return true }
    note(MigrationPlan.Loss(found, lacking: origin?.property ?? property, of: migration.old.entity, in: map.new.model))
    return true
  }

  /// The entity that declares a property.
  private func declaring(_ property: ResolvedProperty, of entity: EntityLayout) -> EntityLayout {
    map.new.entities[property.declaringEntity] ?? entity
  }

  /// Counts objects with several destinations of a relationship that becomes to-one. The first destination remains
  /// after the migration.
  private mutating func countMembers(of property: ResolvedProperty, in entity: EntityLayout) throws {
    let movers = map.entities.filter { $0.new.entity.isKind(of: entity.entity) }
    guard let mover = movers.first(where: { map.isCopied(property, of: $0) == nil }),
      let pairs = map.pairs(of: property, in: entity),
      let found = try counter.count(
        "SELECT COUNT(*), MIN(owner) FROM (SELECT owner FROM (\(pairs.sql)) GROUP BY owner HAVING COUNT(DISTINCT member) > 1)"
      )
    else { return }
    note(
      found, entity: mover.old, property: mover.origin(of: property)?.property ?? property,
      "ha\(found.count == 1 ? "s" : "ve") several destinations, and one remains")
  }

  /// Notes the loss of a property or of whole objects.
  private mutating func note(
    _ found: LossCounter.Found, entity: EntityLayout, property: ResolvedProperty?, _ reason: String
  ) {
    note(
      MigrationPlan.Loss(
        entity: entity.entity.name, property: property?.name, reason: reason, rowCount: found.count,
        firstKey: found.first))
  }

  /// Adds a loss to the plan.
  mutating func note(_ loss: MigrationPlan.Loss) { plan.losses.append(loss) }
}

/// Losses of missing values.
extension MigrationPlan.Loss {
  /// Makes the loss for rows that lack a newly required value or destination.
  package init(
    _ found: LossCounter.Found, lacking property: ResolvedProperty, of entity: ResolvedEntity, in new: ResolvedModel
  ) {
    self.init(
      entity: entity.name, property: property.name,
      reason: "ha\(found.count == 1 ? "s" : "ve") no value, and one is required", rowCount: found.count,
      firstKey: found.first)
    guard property.relationship != nil else { return }
    isOfRelationship = true
    reason = "lead\(found.count == 1 ? "s" : "") to no object, and one is required"
  }
}
