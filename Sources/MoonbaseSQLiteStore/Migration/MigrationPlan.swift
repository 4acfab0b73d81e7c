public import MoonbaseModelFormats

/// What a migration would do with a store: known before anything is written.
///
/// ```swift
/// let plan = try SQLiteStore.migrationPlan(forStoreAt: url, to: model)
/// print(plan)                                  // ~ Person (120 rows): + nickname, - fax
/// for loss in plan.losses { print(loss) }      // Person.fax: 3 rows hold a value, and the newer model has no such attribute (the first is row 7)
/// ```
///
/// A *loss* is a row that would have less afterwards: an object of an entity, a value or a destination that the newer model has no place for, a value
/// that its new type cannot keep, a destination too many. What no row has anything in goes without a word.
public struct MigrationPlan: Sendable, Hashable {
  /// What becomes of one entity's rows.
  public struct Step: Sendable, Hashable {
    /// Whether rows are added, removed, copied or made anew.
    public var kind: EntityMapping.Kind
    /// The entity in the older model; nil for a new one.
    public var sourceEntityName: String?
    /// The entity in the newer model; nil for one that goes.
    public var destinationEntityName: String?
    /// How many rows there are.
    public var rowCount: Int
    /// What is done with its properties, `+ nickname`, `age: string → integer16`.
    public var changes: [String] = []
  }

  /// Rows of which something would be lost.
  public struct Loss: Sendable, Hashable {
    /// The entity in the older model.
    public var entity: String
    /// The property; nil where whole objects would go.
    public var property: String?
    /// What would be lost, as a phrase.
    public var reason: String
    /// How many rows it concerns.
    public var rowCount: Int
    /// The key of the first of them.
    public var firstKey: Int64

    /// Whether the property is a relationship, which has no default.
    var isOfRelationship = false

    /// Whether a value, or a destination, lacks that is required now.
    var isMissingValue: Bool { reason.hasSuffix(", and one is required") }

    /// Whether the newer model lacks something of the older one, perhaps for its name alone.
    var mayBeRenamed: Bool { reason.contains("the newer model has no such ") }

    /// Whether a mapping model leaves something out.
    var isOfMapping: Bool {
      reason.hasSuffix("no mapping takes it") || reason.contains("because no entity mapping names")
    }
  }

  /// Rows that have the same values where the newer model wants each to have its own.
  public struct Conflict: Sendable, Hashable {
    /// The entity in the newer model.
    public var entity: String
    /// The properties of the uniqueness constraint.
    public var properties: [String]
    /// How many rows have values that another one has too.
    public var rowCount: Int
    /// The key of the first of them.
    public var firstKey: Int64
    /// What that row has.
    public var example: String
  }

  /// What becomes of each entity.
  public internal(set) var steps: [Step] = []
  /// What would be lost; a migration with losses runs only where they are allowed.
  public internal(set) var losses: [Loss] = []
  /// Values that must be unique and are not; a migration with conflicts does not run.
  public internal(set) var conflicts: [Conflict] = []
  /// How many transactions of the store's history go: a mapping model says nothing of them. What comes after gets numbers of its own.
  public internal(set) var lostTransactionCount = 0

  /// How many rows the migration goes through.
  public var rowCount: Int { steps.reduce(0) { $0 + $1.rowCount } }
}

extension MigrationPlan: CustomStringConvertible {
  /// A line for each step that changes something, and one for each loss.
  public var description: String {
    let lines = steps.filter { $0.kind != .copy || !$0.changes.isEmpty }.map(\.description)
    let losses =
      conflicts.map { "! \($0)" } + losses.map { "! \($0)" }
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
  /// The conflict as a sentence: `Person.email: 2 rows have what others have too, as "a" (the first is row 1), and it must be unique`.
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
