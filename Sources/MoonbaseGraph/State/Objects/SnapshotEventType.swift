/// The reasons for replacing several values of an object at once. The raw values are Core Data's.
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

  /// The object's insertion was undone, or its deletion was redone.
  public static let undoInsertion = SnapshotEventType(rawValue: 2)
  /// The object's deletion was undone, or its insertion was redone.
  public static let undoDeletion = SnapshotEventType(rawValue: 4)
  /// Changes of the object's values were undone or redone.
  public static let undoUpdate = SnapshotEventType(rawValue: 8)
  /// The object's unsaved changes or deletion were discarded.
  public static let rollback = SnapshotEventType(rawValue: 16)
  /// Newer values of the store were adopted, with unsaved changes on top.
  public static let refresh = SnapshotEventType(rawValue: 32)
  /// A merge policy chose between the object's values and the store's values.
  public static let mergePolicy = SnapshotEventType(rawValue: 64)

  /// The names of the set's elements, as scripts spell them.
  package var scriptNames: [String] {
    let names: [(SnapshotEventType, String)] = [
      (.undoInsertion, "undo_insertion"), (.undoDeletion, "undo_deletion"), (.undoUpdate, "undo_update"),
      (.rollback, "rollback"), (.refresh, "refresh"), (.mergePolicy, "merge_policy"),
    ]
    return names.filter { contains($0.0) }.map(\.1)
  }
}
