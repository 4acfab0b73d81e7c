import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL
import MoonbaseSQLite

/// Says what a mapping model would do with a store.
struct MappedPlanner {
  let mapping: CompiledMapping
  let old: StoreLayout
  let connection: Connection
  let path: String

  func make() throws -> MigrationPlan {
    var plan = MigrationPlan()
    for entry in mapping.entries {
      plan.steps.append(
        MigrationPlan.Step(
          kind: entry.mapping.kind, sourceEntityName: entry.mapping.sourceEntityName,
          destinationEntityName: entry.mapping.destinationEntityName, rowCount: try rows(of: entry.source).count,
          changes: changes(entry)))
    }
    // Nobody said that these objects go.
    let named = Set(mapping.entries.compactMap { $0.source?.index })
    for entity in old.entities.compactMap({ $0?.entity }) where !entity.isAbstract && !named.contains(entity.index) {
      let (count, first) = try rows(of: entity)
      guard count > 0 else { continue }
      plan.losses.append(
        MigrationPlan.Loss(
          entity: entity.name, property: nil, reason: "would go, because no entity mapping names \(entity.name)",
          rowCount: count, firstKey: first))
    }
    if try HistoryForm(connection, path: path) != nil {
      plan.lostTransactionCount = Int(try connection.integer("SELECT COUNT(*) FROM ATRANSACTION") ?? 0)
    }
    return plan
  }

  private func rows(of entity: ResolvedEntity?) throws -> (count: Int, first: Int64) {
    guard let entity, let layout = old.entities[entity.index] else { return (0, 0) }
    let isShared = old.model.entities[entity.root].hasSubentities
    let statement = try connection.statement(
      "SELECT COUNT(*), IFNULL(MIN(Z_PK), 0) FROM \(identifier(layout.table)) WHERE "
        + (isShared ? "Z_ENT = \(layout.number)" : "1"))
    defer { statement.reset() }
    guard try statement.step() else { return (0, 0) }
    return (Int(statement.integer(0)), statement.integer(1))
  }

  /// What is not merely copied.
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
    return properties + [entry.mapping.migrationPolicyClassName.map { "by \($0)" }].compactMap(\.self)
  }
}
