public import MoonbaseModel

/// How the objects of one model become those of another.
///
/// ```swift
/// let mapping = try MappingModel(inferredFrom: old.resolved(), to: new.resolved())
/// for step in mapping.entityMappings { print(step.name, step.kind) }      // PersonToPerson transform
/// ```
public struct MappingModel: Sendable, Hashable {
  /// The steps, in the order in which they are done.
  public var entityMappings: [EntityMapping]
  /// What a reader found worth telling.
  @IgnoredInEquality public var warnings: [String] = []
  /// The fields of the file that nothing here can run. A mapping model with obstacles is refused, because running it
  /// would leave them out.
  @IgnoredInEquality package var obstacles: [String] = []

  /// A mapping.
  public init(entityMappings: [EntityMapping] = []) { self.entityMappings = entityMappings }

  /// The mapping of a name, for example `PersonToPerson`.
  public func entityMapping(named name: String) -> EntityMapping? { entityMappings.first { $0.name == name } }
}

/// How the objects of one entity become those of another.
///
/// ```swift
/// let mapping = try MappingModel(inferredFrom: old, to: new)
/// for step in mapping.entityMappings where step.kind == .transform {
///   print(step.name, step.attributeMappings.map(\.name))
/// }
/// ```
public struct EntityMapping: Sendable, Hashable {
  /// What is done with the objects.
  public enum Kind: String, Sendable, Hashable {
    /// A migration policy decides.
    case custom
    /// The entity is new; it has no objects yet.
    case add
    /// The entity is gone, and its objects with it.
    case remove
    /// Nothing that a store keeps has changed.
    case copy
    /// Objects are made anew from the old ones.
    case transform
  }

  /// The name, by Core Data's custom `SourceToDestination`.
  public var name: String
  /// What is done.
  public var kind: Kind
  /// The entity in the older model; nil where the entity is new.
  public var sourceEntityName: String?
  /// The entity in the newer model; nil where the entity is gone.
  public var destinationEntityName: String?
  /// Where the values of the destination's attributes come from.
  public var attributeMappings: [PropertyMapping] = []
  /// Where the destination's relationships come from.
  public var relationshipMappings: [PropertyMapping] = []
  /// The function by which an expression asks for the objects that the destinations of a relationship became, by any
  /// mapping.
  package static let destinationsOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  /// The function by which an expression asks for the objects that the named mapping made.
  package static let destinationsOfMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"

  /// The name of a program's own migration policy; who migrates gives the policy for it.
  public var migrationPolicyClassName: String?

  /// A mapping with Core Data's name for it.
  public init(_ kind: Kind, from source: String?, to destination: String?) {
    self.kind = kind
    sourceEntityName = source
    destinationEntityName = destination
    name = [source, destination].compactMap(\.self).joined(separator: "To")
  }
}

/// Where the value of one property comes from.
public struct PropertyMapping: Sendable, Hashable {
  /// A source of values.
  public enum Source: Sendable, Hashable {
    /// The property of the same name, where the source has it, else the destination's default.
    case automatic
    /// A property of the source object.
    case property(String)
    /// The same value for all objects, for example a default.
    case value(Value)
    /// An expression over `$source`, `$destination`, `$manager` and their kin.
    case expression(Expression)
  }

  /// The destination's property.
  public var name: String
  /// Where its value comes from.
  public var source: Source

  /// A mapping.
  public init(_ name: String, from source: Source) {
    self.name = name
    self.source = source
  }
}
