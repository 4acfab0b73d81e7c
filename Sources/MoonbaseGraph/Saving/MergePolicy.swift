public import MoonbaseModel

/// What a save does where the store has something else than the context expected: another context saved or deleted the row
/// meanwhile, or a value is taken that must be unique.
///
/// The save resolves the conflicts in its objects, applies rules and `willSave` anew, and writes again. If it fails after all, the
/// objects are as they were before it.
///
/// ```swift
/// context.mergePolicy = .mergeByPropertyObjectTrump
/// context.mergePolicy = .custom { $0.object.entity.name == "Counter" ? .storeTrumps : .error }
/// ```
public struct MergePolicy: Sendable {
  /// How one conflict is resolved.
  public enum Resolution: Sendable {
    /// Not at all: the save fails with it.
    case error
    /// Property by property: where both changed it, what the store has is kept.
    case storeTrumps
    /// Property by property: where both changed it, what the object has is written.
    case objectTrumps
    /// All that the object has is written, what it did not change too.
    case overwrite
    /// The object gives up its changes.
    case rollback
    /// These properties get these values, and of the others the object's changes are written.
    case values([String: Value])
  }

  /// A policy without a closure, as scripts call it.
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

  package let resolve: @Sendable (MergeConflict) throws -> Resolution
  /// Nil for one of a closure.
  package let name: Name?

  /// The policy of a name.
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
  var isError: Bool { name == .error }

  /// A conflict fails the save.
  public static let error = MergePolicy(.error)
  /// Properties that both changed are as in the store; the object's other changes are saved.
  public static let mergeByPropertyStoreTrump = MergePolicy(.storeTrump)
  /// Properties that both changed are as in the object; what others changed elsewhere stays.
  public static let mergeByPropertyObjectTrump = MergePolicy(.objectTrump)
  /// The object is written as a whole.
  public static let overwrite = MergePolicy(.overwrite)
  /// The object's changes are given up.
  public static let rollback = MergePolicy(.rollback)

  /// Decides for each conflict. What `resolve` throws fails the save; it only looks.
  public static func custom(_ resolve: @escaping @Sendable (MergeConflict) throws -> Resolution) -> MergePolicy {
    MergePolicy(resolve)
  }
}

/// A conflict of a save, with the object that it is about.
public struct MergeConflict {
  /// A property that is another one in the store than in the object.
  public struct Difference: Sendable {
    /// Its name.
    public let property: String
    /// What the context had read.
    public let original: Value
    /// What the object has.
    public let object: Value
    /// What the store has.
    public let stored: Value
  }

  /// What is in the way.
  public let conflict: SaveConflict
  /// The object that the save writes. A new one has its temporary ID.
  public let object: ManagedObject
  /// Of a row that another context saved: the attributes and to-one relationships that both changed, to something else.
  public let collisions: [Difference]

  init(_ conflict: SaveConflict, of object: ManagedObject) {
    (self.conflict, self.object) = (conflict, object)
    collisions = conflict.foundRow.map { object.collisions(with: $0) } ?? []
  }
}

extension ManagedObject {
  /// The properties that an unsaved change and a newer row have otherwise than each other, and than the row that was read.
  fileprivate final func collisions(with row: Snapshot) -> [MergeConflict.Difference] {
    guard let old = snapshot, !isDeleted else { return [] }
    return changed.slots.compactMap { slot in
      let property = entity.properties[slot]
      if property.isTransient { return nil }
      if case .toMany = property.kind { return nil }
      let (original, mine, stored) = (old.values[slot], current(slot) ?? .null, row.values[slot])
      guard !original.isSame(as: stored), !mine.isSame(as: stored), !mine.isSame(as: original) else { return nil }
      return MergeConflict.Difference(property: property.name, original: original, object: mine, stored: stored)
    }
  }
}

extension MergeConflict {
  /// What an object of a context and the store have otherwise.
  static func differences(_ conflict: SaveConflict, in context: ManagedObjectContext) -> [Difference] {
    guard conflict.foundRow != nil, let object = context.registeredObject(for: conflict.objectID) else { return [] }
    return MergeConflict(conflict, of: object).collisions
  }
}

extension Value {
  /// How a message shows it.
  var beginningOfText: String { beginning ?? description }
}
