/// Why the values of an object were replaced, many at once. The numbers are Core Data's.
///
/// ```swift
/// override func awake(fromSnapshotEvents events: SnapshotEventType) throws {
///   if !events.isDisjoint(with: [.rollback, .refresh]) { bounds = nil }
/// }
/// ```
public struct SnapshotEventType: OptionSet, Sendable, Hashable {
  /// The set as bits.
  public let rawValue: UInt

  /// Makes a set of bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The object's insertion was undone, or its deletion done again.
  public static let undoInsertion = SnapshotEventType(rawValue: 2)
  /// The object's deletion was undone, or its insertion done again.
  public static let undoDeletion = SnapshotEventType(rawValue: 4)
  /// Changes of its values were undone or done again.
  public static let undoUpdate = SnapshotEventType(rawValue: 8)
  /// Its unsaved changes, or its deletion, were given up.
  public static let rollback = SnapshotEventType(rawValue: 16)
  /// Newer values of the store came in, with unsaved changes on top.
  public static let refresh = SnapshotEventType(rawValue: 32)
  /// A merge policy chose among its values and those of the store.
  public static let mergePolicy = SnapshotEventType(rawValue: 64)

  /// The names of what happened, as scripts spell them.
  package var scriptNames: [String] {
    let names: [(SnapshotEventType, String)] = [
      (.undoInsertion, "undo_insertion"), (.undoDeletion, "undo_deletion"), (.undoUpdate, "undo_update"),
      (.rollback, "rollback"), (.refresh, "refresh"), (.mergePolicy, "merge_policy"),
    ]
    return names.filter { contains($0.0) }.map(\.1)
  }
}
