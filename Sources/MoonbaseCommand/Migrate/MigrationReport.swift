import MoonbaseModelFormats
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools

/// A planned or completed migration, for programs to read: `moonbase migrate --json`.
///
/// The keys are the names of the properties. Without `--staged`, there is one stage.
struct MigrationReport: Encodable {
  /// The plan for the rows of an entity.
  struct Step: Encodable {
    /// The kind of the mapping, such as a copy, a transformation or a removal.
    let kind: String
    /// The entity before the migration, or nil for a new entity.
    let source: String?
    /// The entity after the migration, or nil for a removed entity.
    let destination: String?
    /// The number of rows that the step concerns.
    let rows: Int
    /// The changes of the properties, in words.
    let changes: [String]
  }

  /// A warning about rows that lose data, or whose values are not unique.
  struct Concern: Encodable {
    /// The entity of the rows.
    let entity: String
    /// The properties that are lost or not unique.
    let properties: [String]
    /// The reason in words.
    let reason: String
    /// The number of affected rows.
    let rows: Int
    /// The key of the first affected row.
    let firstKey: Int64
  }

  /// The migration to one version.
  struct Stage: Encodable {
    /// The name of the version.
    let to: String
    /// The steps in the order of execution.
    let steps: [Step]
    /// The data that the migration loses. It needs `--allow-loss`.
    let losses: [Concern]
    /// The conflicts that prevent the migration.
    let conflicts: [Concern]
    /// The number of transactions of the history that are lost.
    let lostTransactions: Int
    /// The parts that other programs added to the tables of a store on a server, and that the migration drops.
    let foreignParts: [String]
  }

  /// The path of the store.
  let store: String
  /// Whether the migration was done. False for a plan.
  let migrated: Bool
  /// Whether the migration was done or could be done.
  let possible: Bool
  /// A message about skipped versions, or nil.
  let advice: String?
  /// The stages in their order.
  let stages: [Stage]

  /// Creates the report of a planned or executed migration.
  ///
  /// - Parameters:
  ///   - store: The path of the store.
  ///   - isDone: Whether the migration was executed.
  ///   - allowsLoss: Whether `--allow-loss` is given.
  ///   - advice: A message about skipped versions.
  ///   - plans: A plan for each stage.
  ///   - names: The names of the versions, as many as there are plans.
  init(
    store: String, isDone: Bool, allowsLoss: Bool, advice: String?, _ plans: [MigrationPlan], to names: [String]
  ) {
    (self.store, migrated, self.advice) = (store, isDone, advice)
    possible = isDone || plans.allSatisfy { $0.isPossible(allowingLoss: allowsLoss) }
    stages = zip(names, plans).map(Stage.init)
  }
}

extension MigrationReport.Stage {
  /// The stage with the parts of a plan.
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
    foreignParts = plan.foreignParts
  }
}
