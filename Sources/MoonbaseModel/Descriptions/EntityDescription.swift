/// An entity of a model. An entity is a value: it can be copied and changed until a container resolves its model.
///
/// ```swift
/// var person = EntityDescription("Person")
/// person.attributes = [AttributeDescription("lastName", type: .string)]
/// person.uniquenessConstraints = [["lastName"]]
/// ```
public struct EntityDescription: Sendable, Hashable {
  /// The name, unique in the model.
  public var name: String
  /// The class name of the entity's objects; nil means `ManagedObject`.
  public var managedObjectClassName: String?
  /// Whether the class is in the app's module, which the model does not name: Xcode's *Current Product Module*. Kept,
  /// without effect here.
  public var usesCurrentProductModule: Bool = false
  /// Whether the entity has only objects of its subentities.
  public var isAbstract: Bool = false
  /// The name of the parent entity.
  public var superentityName: String?
  /// The names of the subentities. An alternative to naming the parent in each subentity; a resolved model has parents
  /// only.
  public var subentityNames: [String] = []
  /// The attributes that the entity declares itself, in the order written.
  public var attributes: [AttributeDescription] = []
  /// The relationships that the entity declares itself, in the order written.
  public var relationships: [RelationshipDescription] = []
  /// The fetched properties that the entity declares itself, in the order written.
  public var fetchedProperties: [FetchedPropertyDescription] = []
  /// Groups of attributes whose values must be unique together.
  public var uniquenessConstraints: [[String]] = []
  /// The indexes.
  public var indexes: [FetchIndexDescription] = []
  /// The name in the previous version of the model; nil if the name is unchanged.
  public var renamingIdentifier: String?
  /// A text that enters the version hash, to give the entity another hash where nothing else changes.
  public var versionHashModifier: String?
  /// The expression of the name shown in Spotlight; kept, without effect here.
  public var coreSpotlightDisplayNameExpression: String?
  /// The kind of code that Xcode generates for the entity (`class`, `category`); kept, without effect here.
  public var codeGenerationType: String?
  /// Additional values from the model's author.
  public var userInfo: [String: Value] = [:]
  /// The place in the model's file.
  @IgnoredInEquality public var location: SourceLocation? = nil
  /// The places of the uniqueness constraints in the model's file.
  @IgnoredInEquality package var constraintLocations: [[String]: SourceLocation] = [:]

  /// An entity without properties.
  public init(_ name: String) { self.name = name }
}

extension EntityDescription {
  /// Adds an index in the form used before fetch indexes, unless a fetch index covers the same properties.
  package mutating func addCompoundIndex(_ names: [String]) {
    guard !names.isEmpty, !indexes.contains(where: { $0.elements.map(\.property) == names }) else { return }
    indexes.append(
      FetchIndexDescription(names.joined(separator: "_"), elements: names.map { FetchIndexDescription.Element($0) }))
  }
}
