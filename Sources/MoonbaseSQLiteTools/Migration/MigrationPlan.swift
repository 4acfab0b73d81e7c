public import MoonbaseModelFormats
import MoonbaseSQLiteStore

/// The effects of a migration on a store, determined before anything is written.
///
/// ```swift
/// let plan = try SQLiteStore.migrationPlan(forStoreAt: url, to: model)
/// print(plan)                                  // ~ Person (120 rows): + nickname, - fax
/// for loss in plan.losses { print(loss) }
/// // Person.fax: 3 rows hold a value, and the newer model has no such attribute (the first is row 7)
/// ```
///
/// A *loss* is data without a place after the migration: an object of an entity, a value or a destination that the
/// newer model lacks, a value that its new type cannot hold, or an excess destination. Removed properties without
/// values cause no loss.
///
/// A plan is made for a store and a model; the numbers are those of the moment. `SQLiteStore.migrate` makes a plan of
/// its own before it writes, so that a stale plan has no effect.
public struct MigrationPlan: Sendable, Hashable {
  /// The effect on the rows of one entity.
  public struct Step: Sendable, Hashable {
    /// Whether rows are added, removed, copied or transformed.
    public var kind: EntityMapping.Kind
    /// The entity in the older model; nil for a new entity.
    public var sourceEntityName: String?
    /// The entity in the newer model; nil for a removed entity.
    public var destinationEntityName: String?
    /// The number of rows.
    public var rowCount: Int
    /// The changes of properties, such as `+ nickname` and `age: string → integer16`.
    public var changes: [String] = []

    /// Makes a step without changes of properties.
    package init(
      kind: EntityMapping.Kind, sourceEntityName: String? = nil, destinationEntityName: String? = nil, rowCount: Int,
      changes: [String] = []
    ) {
      (self.kind, self.rowCount, self.changes) = (kind, rowCount, changes)
      (self.sourceEntityName, self.destinationEntityName) = (sourceEntityName, destinationEntityName)
    }
  }

  /// Rows that would lose data.
  public struct Loss: Sendable, Hashable {
    /// The entity in the older model.
    public var entity: String
    /// The property; nil if whole objects would be lost.
    public var property: String?
    /// The loss, as a phrase.
    public var reason: String
    /// The number of rows concerned.
    public var rowCount: Int
    /// The key of the first row.
    public var firstKey: Int64

    /// Whether the property is a relationship, which has no default value. Set by the planner.
    package var isOfRelationship = false

    /// Makes a loss of an attribute or of whole objects.
    package init(entity: String, property: String?, reason: String, rowCount: Int, firstKey: Int64) {
      (self.entity, self.property, self.reason) = (entity, property, reason)
      (self.rowCount, self.firstKey) = (rowCount, firstKey)
    }

    /// Whether a value or destination is missing that is now required.
    /// By the words of the reason.
    var isMissingValue: Bool { reason.hasSuffix(", and one is required") }

    /// Whether the newer model lacks a part of the older one, possibly because it was renamed.
    /// Renaming identifiers are the remedy that the command then proposes.
    var mayBeRenamed: Bool { reason.contains("the newer model has no such ") }

    /// Whether a mapping model omits a part. The command then proposes to add it.
    var isOfMapping: Bool {
      reason.hasSuffix("no mapping takes it") || reason.contains("because no entity mapping names")
    }
  }

  /// Rows with equal values that the newer model requires to be unique.
  public struct Conflict: Sendable, Hashable {
    /// The entity in the newer model.
    public var entity: String
    /// The properties of the uniqueness constraint.
    public var properties: [String]
    /// The number of rows whose values are not unique.
    public var rowCount: Int
    /// The key of the first row.
    public var firstKey: Int64
    /// The values of the first row.
    public var example: String
  }

  /// The effect on each entity. In the order of the mapping, with removed entities behind.
  public package(set) var steps: [Step] = []
  /// The losses. A migration with losses runs only if losses are allowed.
  public package(set) var losses: [Loss] = []
  /// The violations of uniqueness constraints. A migration with conflicts does not run.
  public package(set) var conflicts: [Conflict] = []
  /// The number of transactions that the history loses, because a mapping model cannot convert them. Later transactions
  /// get new numbers.
  public package(set) var lostTransactionCount = 0

  /// The columns, indexes, constraints and triggers of other programs in the tables of a store on a server, as phrases.
  /// The migration drops them, and runs only if losses are allowed.
  public package(set) var foreignParts: [String] = []

  /// Makes a plan without effects.
  package init() {}

  /// Whether the migration runs.
  ///
  /// - Parameter allowsLoss: Whether losses are allowed.
  package func isPossible(allowingLoss allowsLoss: Bool) -> Bool {
    conflicts.isEmpty && (allowsLoss || losses.isEmpty && foreignParts.isEmpty)
  }

  /// The number of rows that the migration processes. Rows of added entities do not exist yet.
  public var rowCount: Int { steps.reduce(0) { $0 + $1.rowCount } }
}

/// The text of `moonbase migrate --plan`.
extension MigrationPlan: CustomStringConvertible {
  /// A line for each step that changes something, and one for each loss. Conflicts and losses begin with `!`.
  public var description: String {
    let lines = steps.filter { $0.kind != .copy || !$0.changes.isEmpty }.map(\.description)
    let losses =
      conflicts.map { "! \($0)" } + losses.map { "! \($0)" }
      + foreignParts.map { "! \($0), which another program added, is dropped" }
      + (lostTransactionCount == 0
        ? []
        : ["- the history (\(lostTransactionCount) transaction\(lostTransactionCount == 1 ? "" : "s"))"])
    return lines.isEmpty && losses.isEmpty ? "no row changes" : (lines + losses).joined(separator: "\n")
  }
}

extension MigrationPlan.Step: CustomStringConvertible {
  /// The step as a line: `~ Person → Human (12 rows): + nickname`.
  public var description: String {
    let names = [sourceEntityName, destinationEntityName].compactMap(\.self)
    let mark = sourceEntityName == nil ? "+" : destinationEntityName == nil ? "-" : "~"
    let name = Set(names).count == 1 ? names[0] : names.joined(separator: " → ")
    let rows = sourceEntityName == nil ? "" : " (\(rowCount) row\(rowCount == 1 ? "" : "s"))"
    return "\(mark) \(name)\(rows)\(changes.isEmpty ? "" : ": \(changes.joined(separator: ", "))")"
  }
}

extension MigrationPlan.Conflict: CustomStringConvertible {
  /// The conflict as a sentence, such as
  /// `Person.email: 2 rows have what others have too, as "a" (the first is row 1), and it must be unique`.
  public var description: String {
    "\(entity).\(properties.joined(separator: ", ")): \(rowCount) rows have what others have too, as \(example) "
      + "(the first is row \(firstKey)), and it must be unique"
  }
}

extension MigrationPlan.Loss: CustomStringConvertible {
  /// The loss as a sentence: `Person.age: 2 rows hold what is no integer16 (the first is row 7)`.
  public var description: String {
    let name = [entity, property].compactMap(\.self).joined(separator: ".")
    let first = rowCount == 1 ? "row \(firstKey)" : "the first is row \(firstKey)"
    return "\(name): \(rowCount) row\(rowCount == 1 ? "" : "s") \(reason) (\(first))"
  }
}
