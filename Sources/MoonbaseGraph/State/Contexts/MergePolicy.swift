public import MoonbaseModel

/// Resolves the conflicts of a save: another context saved or deleted a row meanwhile, or a unique value is already
/// taken.
///
/// The save resolves the conflicts in its objects, runs rules and `willSave` again, and repeats the writing. If it
/// still fails, the objects are as they were before the save.
///
/// ```swift
/// context.mergePolicy = .mergeByPropertyObjectTrump
/// context.mergePolicy = .custom { $0.object.entity.name == "Counter" ? .storeTrumps : .error }
/// ```
public struct MergePolicy: Sendable {
  /// The resolution of one conflict.
  public enum Resolution: Sendable {
    /// The save fails with the conflict.
    case error
    /// Property by property: if both changed it, the store's value is kept.
    case storeTrumps
    /// Property by property: if both changed it, the object's value is written.
    case objectTrumps
    /// All values of the object are written, including unchanged ones.
    case overwrite
    /// The changes of the object are discarded.
    case rollback
    /// The given properties get these values; the object's changes of other properties are written.
    case values([String: Value])
  }

  /// The policies without a closure, by their names in scripts.
  package enum Name: String, Sendable, CaseIterable {
    case error, overwrite, rollback
    case storeTrump = "store_trump"
    case objectTrump = "object_trump"

    fileprivate var resolution: Resolution {
      switch self {
      case .error: .error
      case .storeTrump: .storeTrumps
      case .objectTrump: .objectTrumps
      case .overwrite: .overwrite
      case .rollback: .rollback
      }
    }
  }

  /// Returns the resolution of a conflict.
  package let resolve: @Sendable (MergeConflict) throws -> Resolution
  /// The name of the policy; nil for a policy with a closure.
  package let name: Name?

  /// Makes the policy of a name.
  package init(_ name: Name) {
    let resolution = name.resolution
    resolve = { _ in resolution }
    self.name = name
  }

  private init(_ resolve: @escaping @Sendable (MergeConflict) throws -> Resolution) {
    self.resolve = resolve
    name = nil
  }

  /// Whether every conflict fails the save.
  package var isError: Bool { name == .error }

  /// The save fails at the first conflict.
  public static let error = MergePolicy(.error)
  /// A property that both changed gets the store's value. The object's changes of further properties are saved.
  public static let mergeByPropertyStoreTrump = MergePolicy(.storeTrump)
  /// A property that both changed gets the object's value. Changes of further properties in the store stay.
  public static let mergeByPropertyObjectTrump = MergePolicy(.objectTrump)
  /// All values of the object are written.
  public static let overwrite = MergePolicy(.overwrite)
  /// The changes of the object are discarded.
  public static let rollback = MergePolicy(.rollback)

  /// The save fails at a property that both changed to different values, and at a deletion of a changed object. Changes
  /// of different properties are merged.
  static let errorAtCollisions = custom { conflict in
    let isMergeable = conflict.conflict.foundRow != nil && !conflict.object.isDeleted && conflict.collisions.isEmpty
    return isMergeable ? .objectTrumps : .error
  }

  /// Decides about each conflict by a closure, which must not change objects. An error that `resolve` throws fails the
  /// save.
  public static func custom(_ resolve: @escaping @Sendable (MergeConflict) throws -> Resolution) -> MergePolicy {
    MergePolicy(resolve)
  }
}

/// A conflict of a save, with the object concerned.
public struct MergeConflict {
  /// A property whose values in the store and in the object differ.
  public struct Difference: Sendable {
    /// The name of the property.
    public let property: String
    /// The value that the context had read.
    public let original: Value
    /// The value of the object.
    public let object: Value
    /// The value in the store.
    public let stored: Value
  }

  /// The conflict as the store reported it.
  public let conflict: SaveConflict
  /// The object that the save writes. A new object has its temporary ID.
  public let object: ManagedObject
  /// For a row that another context saved: the attributes and to-one relationships that both changed, to different
  /// values.
  public let collisions: [Difference]

  init(_ conflict: SaveConflict, of object: ManagedObject) {
    (self.conflict, self.object) = (conflict, object)
    collisions = conflict.foundRow.map { object.collisions(with: $0) } ?? []
  }
}

extension MergeConflict {
  /// The properties whose values in a context's object and in the store collide.
  static func differences(_ conflict: SaveConflict, in context: ManagedObjectContext) -> [Difference] {
    guard conflict.foundRow != nil, let object = context.registeredObject(for: conflict.objectID) else { return [] }
    return MergeConflict(conflict, of: object).collisions
  }
}
