public import MoonbaseModel

/// The differences between two models, for printing and for programs.
///
/// ```swift
/// let difference = ModelDifference(from: old, to: new)
/// print(difference)                       // ~ entity Person !
///                                         //   ~ age !: type integer16 → integer32
/// if difference.needsMigration { ... }
/// ```
public struct ModelDifference: Sendable, Hashable {
  /// The entities that differ, by their newer names.
  public var entities: [EntityDifference] = []
  /// Fetch request templates, configurations and version identifiers that differ.
  public var others: [AspectDifference] = []

  /// Whether the models are equal.
  public var isEmpty: Bool { entities.isEmpty && others.isEmpty }

  /// Whether a store of one model cannot be opened with the other, because an entity's version hash differs.
  public var needsMigration: Bool { entities.contains(where: \.needsMigration) }

  /// Compares two models; the older comes first.
  public init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
    // A parent may be declared in either entity. Inconsistent inheritance is compared as declared.
    func plain(_ model: ManagedObjectModel) -> ManagedObjectModel {
      (try? model.withInheritanceFromChildren()) ?? model
    }
    self = ModelComparer(old: plain(old), new: plain(new)).compare()
  }

  /// No difference.
  init() {}
}

/// The kind of a difference.
public enum DifferenceKind: String, Sendable, Hashable {
  /// Present in the newer model only.
  case added
  /// Present in the older model only.
  case removed
  /// Present in both under different names, connected by a renaming identifier.
  case renamed
  /// Present in both with different settings.
  case changed
}

/// A setting of an entity or property that differs.
public struct AspectDifference: Sendable, Hashable {
  /// The setting, by its key in a Lua model, for example `optional`.
  public var aspect: String
  /// The value in the older model; nil if there is none.
  public var old: String?
  /// The value in the newer model; nil if there is none.
  public var new: String?
}

/// The differences of an entity.
public struct EntityDifference: Sendable, Hashable {
  /// The kind of difference.
  public var kind: DifferenceKind
  /// The name; for a renamed entity the newer name.
  public var name: String
  /// The older name, if it differs.
  public var oldName: String?
  /// Whether the version hash differs.
  public var needsMigration: Bool
  /// The settings of the entity itself that differ.
  public var aspects: [AspectDifference] = []
  /// The properties that differ, without inherited ones.
  public var properties: [PropertyDifference] = []
}

/// The differences of a property.
///
/// ```swift
/// for property in difference.properties where property.kind == .renamed {
///   print(property.oldName ?? "", "is now", property.name)
/// }
/// ```
public struct PropertyDifference: Sendable, Hashable {
  /// The kind of difference.
  public var kind: DifferenceKind
  /// The name; for a renamed property the newer name.
  public var name: String
  /// The older name, if it differs.
  public var oldName: String?
  /// The entity that it was moved from or to within the hierarchy; nil if not moved.
  public var movedBetween: String?
  /// Whether its own version hash differs.
  public var needsMigration: Bool
  /// The settings that differ; all settings of an added or removed property.
  public var aspects: [AspectDifference] = []
}
