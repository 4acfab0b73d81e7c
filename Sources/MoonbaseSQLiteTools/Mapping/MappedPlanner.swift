import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Plans a migration by a mapping model.
///
/// Counts rows with queries over the old file and writes nothing. Only losses that are certain are reported: values
/// from expressions and policies are not known in advance.
struct MappedPlanner {
  /// The compiled mapping.
  let mapping: CompiledMapping
  /// The layout of the old file.
  let old: StoreLayout
  /// Reads the old file.
  let connection: Connection
  /// The path of the store, for messages.
  let path: String
  /// Reads values in files.
  private let external: ExternalData
  /// Counts rows that lose values.
  private let counter: LossCounter
  /// The entity mappings that create objects, by the index of the source entity.
  private let makers: [EntityIndex: [CompiledMapping.Entry]]

  /// Reads nothing yet.
  init(
    _ mapping: CompiledMapping, from old: StoreLayout, to new: StoreLayout, on connection: Connection,
    external: ExternalData,
    path: String
  ) {
    (self.mapping, self.old, self.connection) = (mapping, old, connection)
    (self.external, self.path) = (external, path)
    counter = LossCounter(map: MigrationMap(mapping.keptPairs, from: old, to: new), connection: connection)
    let entries = mapping.entries.filter { $0.destination != nil && $0.source != nil }
    makers = Dictionary(grouping: entries) { $0.source?.index ?? 0 }
  }

  /// Makes the plan. The steps are in the order of the mappings; old entities without a mapping follow as removed.
  func make() throws -> MigrationPlan {
    var plan = MigrationPlan()
    for entry in mapping.entries {
      let removed = entry.destination == nil ? [] : entry.source.map(removed) ?? []
      plan.steps.append(
        MigrationPlan.Step(
          kind: entry.mapping.kind, sourceEntityName: entry.mapping.sourceEntityName,
          destinationEntityName: entry.mapping.destinationEntityName, rowCount: try rows(of: entry.source)?.count ?? 0,
          changes: removed.map { "- \($0.name)" } + changes(entry)))
    }
    let named = Set(mapping.entries.compactMap { $0.source?.index })
    for entity in old.entities.compactMap({ $0 }) where !entity.entity.isAbstract {
      if named.contains(entity.entity.index) {
        plan.losses += try losses(in: entity) + missing(in: entity)
      } else {
        try leaveOut(entity, in: &plan)
      }
    }
    plan.conflicts = try uniqueness.conflicts()
    if try HistoryForm(connection, path: path) != nil {
      plan.lostTransactionCount = Int(try connection.integer("SELECT COUNT(*) FROM ATRANSACTION") ?? 0)
    }
    return plan
  }

  /// The number of an entity's rows, and the key of the first one.
  private func rows(of entity: ResolvedEntity?) throws -> LossCounter.Found? {
    try entity.flatMap { old.entities[$0.index] }.flatMap { try counter.count("\(counter.rows(of: $0)) 1") }
  }

  /// Adds a loss for an entity that no mapping mentions. The step is a removal.
  private func leaveOut(_ entity: EntityLayout, in plan: inout MigrationPlan) throws {
    let name = entity.entity.name
    let found = try rows(of: entity.entity)
    plan.steps.append(
      MigrationPlan.Step(
        kind: .remove, sourceEntityName: name, destinationEntityName: nil, rowCount: found?.count ?? 0))
    guard let found else { return }
    plan.losses.append(
      MigrationPlan.Loss(
        entity: name, property: nil, reason: "would go, because no entity mapping names \(name)",
        rowCount: found.count, firstKey: found.first))
  }

  /// The check of uniqueness for copied values. Values from policies, expressions or other objects are not known in
  /// advance. Constraints over relationships are not checked.
  private var uniqueness: UniquenessCheck {
    UniquenessCheck(
      map: counter.map, conversions: ColumnConversions(external: external, path: path), connection: connection
    ) { mover, property in
      guard mover.mapping.migrationPolicyClassName == nil, property.relationship == nil else { return false }
      switch mover.source(of: property) {
      case .automatic, .property, .value: return true
      case nil: return mover.mapping.kind == .copy
      case .expression: return false
      }
    }
  }

  // MARK: Properties

  /// The losses of removed properties. For a mapping with a policy none are reported, as the policy may use any
  /// property. A relationship whose inverse keeps the pair is no loss.
  private func losses(in entity: EntityLayout) throws -> [MigrationPlan.Loss] {
    guard !isLeftToPolicy(entity.entity) else { return [] }
    let staying = old.entities.compactMap { $0 }.filter { makers[$0.entity.index] != nil }
    return try removed(entity.entity).compactMap { property in
      try counter.loss(
        of: property, in: entity, because: "no mapping takes it", staying: staying
      ) { other, inverse in !isLeftToPolicy(other.entity) && !sourceSlots(of: other.entity).contains(inverse.slot) }
    }
  }

  /// Required values that rows lack. The values that expressions and policies make are not known before the migration.
  /// These are losses only if the newer model requires a value.
  private func missing(in entity: EntityLayout) throws -> [MigrationPlan.Loss] {
    guard !isLeftToPolicy(entity.entity) else { return [] }
    return try (makers[entity.entity.index] ?? []).flatMap { entry in
      try (entry.destination?.properties ?? []).compactMap { property in
        guard property.isRequired, !property.isTransient, let attribute = property.attribute,
          attribute.defaultValue.isNull, attribute.derivationExpression == nil,
          let condition = lacking(entry.attributes.first { $0.property.slot == property.slot }?.source, in: entity),
          let found = try counter.count("\(counter.rows(of: entity)) \(condition)")
        else { return nil }
        return MigrationPlan.Loss(found, lacking: property, of: entity.entity, in: mapping.destination)
      }
    }
  }

  /// The SQL condition for rows without a value from a source; nil if that is not known. `1` for a source that never
  /// has a value.
  private func lacking(_ source: PropertyRecipe.Source?, in entity: EntityLayout) -> String? {
    switch source {
    case nil: return "1"
    case .value(let value)?: return value.isNull ? "1" : nil
    case .copy(let slot, _)?:
      guard case .attribute(let column, _) = entity.slots[slot] else { return nil }
      return "\(identifier(column)) IS NULL"
    default: return nil
    }
  }

  /// Whether a policy decides about the objects of an entity. Any mapping of the entity may name the policy.
  private func isLeftToPolicy(_ entity: ResolvedEntity) -> Bool {
    makers[entity.index]?.contains { $0.mapping.migrationPolicyClassName != nil } ?? false
  }

  /// The old properties that no mapping of the entity uses. Empty for an entity without a mapping that creates objects.
  private func removed(_ entity: ResolvedEntity) -> [ResolvedProperty] {
    guard makers[entity.index] != nil else { return [] }
    let taken = sourceSlots(of: entity)
    return entity.properties.filter { !$0.isTransient && !taken.contains($0.slot) }
  }

  /// The old properties that new ones are made from. By any mapping of the entity, including properties that
  /// expressions read.
  private func sourceSlots(of entity: ResolvedEntity) -> Set<Slot> {
    var result: Set<Slot> = []
    for entry in makers[entity.index] ?? [] {
      for property in entry.destination?.properties ?? [] where property.attribute?.derivationExpression != nil {
        // Derived attributes are computed again.
        guard let slot = entity.slot(property.name), entity.properties[slot].attribute?.derivationExpression != nil
        else { continue }
        result.insert(slot)
      }
      for recipe in entry.attributes + entry.relationships {
        switch recipe.source {
        case .copy(let slot, _), .elements(let slot, _), .policy(let slot), .counterparts(let slot): result.insert(slot)
        case .value, .expression, .counterpartsOf, .destinations: break
        }
      }
      for property in entry.mapping.attributeMappings + entry.mapping.relationshipMappings {
        guard case .expression(let expression) = property.source else { continue }
        _ = expression.replacing { part in
          if case .keyPath(.variable("source"), let keys) = part, let slot = keys.first.flatMap({ entity.slot($0) }) {
            result.insert(slot)
          }
          return nil
        }
      }
    }
    return result
  }

  /// The changes of the elements of copied composites. For a plan.
  private func elements(_ entry: CompiledMapping.Entry) -> [String] {
    entry.attributes.flatMap { recipe -> [String] in
      if case .elements(_, let conversion) = recipe.source { conversion.changes } else { [] }
    }
  }

  /// The changes of properties other than plain copies, as a plan shows them. For example `~ name (was title)` and `by
  /// FullNamePolicy`.
  private func changes(_ entry: CompiledMapping.Entry) -> [String] {
    let all = entry.mapping.attributeMappings + entry.mapping.relationshipMappings
    let properties = all.compactMap { property -> String? in
      switch property.source {
      case .automatic: nil
      case .property(let name): name == property.name ? nil : "~ \(property.name) (was \(name))"
      case .value(let value): value.isNull ? nil : "+ \(property.name)"
      case .expression(let expression): "~ \(property.name) = \(expression)"
      }
    }
    return properties + elements(entry) + [entry.mapping.migrationPolicyClassName.map { "by \($0)" }].compactMap(\.self)
  }
}
