public import MoonbaseModelFormats

/// What a migration would do with a store: known before anything is written.
///
/// ```swift
/// let plan = try SQLiteStore.migrationPlan(forStoreAt: url, to: model)
/// print(plan)                                  // ~ Person (120 rows): + nickname, - fax (3 values go)
/// for loss in plan.losses { print(loss) }      // 2 rows of Person: age holds text that is no integer16 (row 7 first)
/// ```
///
/// Entities and properties that the newer model leaves out go with their values, as in Core Data: the model says so, and the plan tells how
/// many there are. A *loss* is what nobody asked for: a value that its new type cannot keep, or a destination too many.
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
  }

  /// What becomes of each entity.
  public internal(set) var steps: [Step] = []
  /// What would be lost; a migration with losses runs only where they are allowed.
  public internal(set) var losses: [Loss] = []
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
      losses.map { "! \($0)" }
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

extension MigrationPlan.Loss: CustomStringConvertible {
  /// The loss as a sentence: `Person.age: 2 rows hold what is no integer16 (the first is row 7)`.
  public var description: String {
    let name = [entity, property].compactMap(\.self).joined(separator: ".")
    let first = rowCount == 1 ? "row \(firstKey)" : "the first is row \(firstKey)"
    return "\(name): \(rowCount) row\(rowCount == 1 ? "" : "s") \(reason) (\(first))"
  }
}
