public import MoonbaseModel

/// The transformation of one model's objects into those of another.
///
/// ```swift
/// let mapping = try MappingModel(inferredFrom: old.resolved(), to: new.resolved())
/// for step in mapping.entityMappings { print(step.name, step.kind) }      // PersonToPerson transform
/// ```
public struct MappingModel: Sendable, Hashable {
  /// The steps, in order of execution.
  public var entityMappings: [EntityMapping]
  /// The warnings of the reader.
  @IgnoredInEquality public var warnings: [String] = []
  /// The fields of the file that cannot be executed here. A mapping model with obstacles is refused, because running it
  /// would omit them.
  @IgnoredInEquality package var obstacles: [String] = []

  /// A mapping with these steps.
  public init(entityMappings: [EntityMapping] = []) { self.entityMappings = entityMappings }

  /// The entity mapping with this name, for example `PersonToPerson`.
  public func entityMapping(named name: String) -> EntityMapping? { entityMappings.first { $0.name == name } }
}

/// The transformation of one entity's objects into those of another.
///
/// ```swift
/// let mapping = try MappingModel(inferredFrom: old, to: new)
/// for step in mapping.entityMappings where step.kind == .transform {
///   print(step.name, step.attributeMappings.map(\.name))
/// }
/// ```
public struct EntityMapping: Sendable, Hashable {
  /// The kind of transformation.
  public enum Kind: String, Sendable, Hashable {
    /// A migration policy transforms the objects.
    case custom
    /// The entity is new and has no objects.
    case add
    /// The entity and its objects are removed.
    case remove
    /// No stored setting has changed.
    case copy
    /// Objects are created from the old ones.
    case transform
  }

  /// The name, by Core Data's convention `SourceToDestination`.
  public var name: String
  /// The kind of transformation.
  public var kind: Kind
  /// The entity in the older model; nil for a new entity.
  public var sourceEntityName: String?
  /// The entity in the newer model; nil for a removed entity.
  public var destinationEntityName: String?
  /// The sources of the destination's attributes.
  public var attributeMappings: [PropertyMapping] = []
  /// The sources of the destination's relationships.
  public var relationshipMappings: [PropertyMapping] = []
  /// The function in expressions for the new objects made from the destinations of a relationship, by any mapping.
  package static let destinationsOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  /// The function in expressions for the objects that the named mapping made.
  package static let destinationsOfMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"

  /// The class name of a custom migration policy, which the caller of the migration provides.
  public var migrationPolicyClassName: String?

  /// An entity mapping with Core Data's name for it.
  public init(_ kind: Kind, from source: String?, to destination: String?) {
    self.kind = kind
    sourceEntityName = source
    destinationEntityName = destination
    name = [source, destination].compactMap(\.self).joined(separator: "To")
  }
}

/// The source of a property's value.
public struct PropertyMapping: Sendable, Hashable {
  /// A source of values.
  public enum Source: Sendable, Hashable {
    /// The property with the same name if the source has it, else the destination's default.
    case automatic
    /// A property of the source object.
    case property(String)
    /// A constant for all objects, for example a default.
    case value(Value)
    /// An expression over variables such as `$source`, `$destination` and `$manager`.
    case expression(Expression)
  }

  /// The destination's property.
  public var name: String
  /// The source of its value.
  public var source: Source

  /// A property mapping.
  public init(_ name: String, from source: Source) {
    self.name = name
    self.source = source
  }
}
