public import MoonbaseModel

/// What differs between two models, in a form that can be read, printed and walked.
///
/// ```swift
/// let difference = ModelDifference(from: old, to: new)
/// print(difference)                       // ~ entity Person !
///                                         //   ~ age !: type integer16 → integer32
/// if difference.needsMigration { ... }
/// ```
public struct ModelDifference: Sendable, Hashable {
  /// Entities that are not the same in both models, by their newer names.
  public var entities: [EntityDifference] = []
  /// Fetch request templates, configurations and version identifiers that differ.
  public var others: [AspectDifference] = []

  /// Whether the models say the same.
  public var isEmpty: Bool { entities.isEmpty && others.isEmpty }

  /// Whether a store of one model cannot be opened with the other: an entity's version hash differs.
  public var needsMigration: Bool { entities.contains(where: \.needsMigration) }

  /// Compares two models, the older first.
  public init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
    // A parent may be named from either end. What contradicts itself is compared as it stands.
    func plain(_ model: ManagedObjectModel) -> ManagedObjectModel {
      (try? model.withInheritanceFromChildren()) ?? model
    }
    self = ModelComparer(old: plain(old), new: plain(new)).compare()
  }

  init() {}
}

/// What happened to an entity or property from one model to the other.
public enum DifferenceKind: String, Sendable, Hashable {
  /// Only the newer model has it.
  case added
  /// Only the older model has it.
  case removed
  /// Both have it, under different names that a renaming identifier connects.
  case renamed
  /// Both have it, and it says other things.
  case changed
}

/// One thing that an entity or property says, as both models say it.
public struct AspectDifference: Sendable, Hashable {
  /// What it is about, by its key in a Lua model, for example `optional`.
  public var aspect: String
  /// What the older model says; nil where it says nothing.
  public var old: String?
  /// What the newer model says; nil where it says nothing.
  public var new: String?
}

/// How an entity differs.
public struct EntityDifference: Sendable, Hashable {
  /// What happened.
  public var kind: DifferenceKind
  /// The name, the newer one where there are two.
  public var name: String
  /// The older name, where it differs.
  public var oldName: String?
  /// Whether the version hash differs.
  public var needsMigration: Bool
  /// What the entity itself says differently.
  public var aspects: [AspectDifference] = []
  /// Its own properties that differ.
  public var properties: [PropertyDifference] = []
}

/// How a property differs.
///
/// ```swift
/// for property in difference.properties where property.kind == .renamed {
///   print(property.oldName ?? "", "is now", property.name)
/// }
/// ```
public struct PropertyDifference: Sendable, Hashable {
  /// What happened.
  public var kind: DifferenceKind
  /// The name, the newer one where there are two.
  public var name: String
  /// The older name, where it differs.
  public var oldName: String?
  /// The entity it was moved from or to within the hierarchy, where it was.
  public var movedBetween: String?
  /// Whether its own version hash differs.
  public var needsMigration: Bool
  /// What it says differently; all that it says where it was added or removed.
  public var aspects: [AspectDifference] = []
}
