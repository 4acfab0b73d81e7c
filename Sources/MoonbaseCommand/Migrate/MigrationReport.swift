import MoonbaseModelFormats
import MoonbaseSQLiteStore

/// A planned or completed migration, for programs to read: `moonbase migrate --json`.
struct MigrationReport: Encodable {
  /// The plan for the rows of an entity.
  struct Step: Encodable {
    let kind: String
    let source: String?
    let destination: String?
    let rows: Int
    let changes: [String]
  }

  /// A warning about rows that lose data, or whose values are not unique.
  struct Concern: Encodable {
    let entity: String
    let properties: [String]
    let reason: String
    let rows: Int
    let firstKey: Int64
  }

  /// The migration to one version.
  struct Stage: Encodable {
    let to: String
    let steps: [Step]
    let losses: [Concern]
    let conflicts: [Concern]
    let lostTransactions: Int
  }

  let store: String
  /// Whether the migration was done. False for a plan.
  let migrated: Bool
  /// Whether the migration was done or could be done.
  let possible: Bool
  let advice: String?
  let stages: [Stage]

  init(
    store: String, isDone: Bool, allowsLoss: Bool, advice: String?, _ plans: [MigrationPlan], to names: [String]
  ) {
    (self.store, migrated, self.advice) = (store, isDone, advice)
    possible = isDone || plans.allSatisfy { $0.conflicts.isEmpty && (allowsLoss || $0.losses.isEmpty) }
    stages = zip(names, plans).map(Stage.init)
  }
}

extension MigrationReport.Stage {
  fileprivate init(_ name: String, _ plan: MigrationPlan) {
    to = name
    steps = plan.steps.map {
      .init(
        kind: $0.kind.rawValue, source: $0.sourceEntityName, destination: $0.destinationEntityName, rows: $0.rowCount,
        changes: $0.changes)
    }
    losses = plan.losses.map {
      .init(
        entity: $0.entity, properties: [$0.property].compactMap(\.self), reason: $0.reason, rows: $0.rowCount,
        firstKey: $0.firstKey)
    }
    conflicts = plan.conflicts.map {
      .init(
        entity: $0.entity, properties: $0.properties, reason: "has \($0.example), which must be unique",
        rows: $0.rowCount, firstKey: $0.firstKey)
    }
    lostTransactions = plan.lostTransactionCount
  }
}
