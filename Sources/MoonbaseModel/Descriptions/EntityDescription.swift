/// An entity of a model: a value that can be copied and changed until a container resolves its model.
///
/// ```swift
/// var person = EntityDescription("Person")
/// person.attributes = [AttributeDescription("lastName", type: .string)]
/// person.uniquenessConstraints = [["lastName"]]
/// ```
public struct EntityDescription: Sendable, Hashable {
  /// The name, unique in the model.
  public var name: String
  /// The name of the class of its objects; nil stands for `ManagedObject`.
  public var managedObjectClassName: String?
  /// Whether the class lies in the module of the app, whose name the model does not say: Xcode's *Current Product
  /// Module*. Kept, without effect here.
  public var usesCurrentProductModule: Bool = false
  /// Whether no object can be of this entity itself.
  public var isAbstract: Bool = false
  /// The name of the entity it inherits from.
  public var superentityName: String?
  /// The names of entities that inherit from it: the same as naming it as their parent, said from the other end. A resolved
  /// model knows only parents.
  public var subentityNames: [String] = []
  /// Its own attributes, without inherited ones, in the order written.
  public var attributes: [AttributeDescription] = []
  /// Its own relationships, without inherited ones, in the order written.
  public var relationships: [RelationshipDescription] = []
  /// Its own fetched properties, without inherited ones, in the order written.
  public var fetchedProperties: [FetchedPropertyDescription] = []
  /// Groups of attributes whose values must be unique together.
  public var uniquenessConstraints: [[String]] = []
  /// Indexes.
  public var indexes: [FetchIndexDescription] = []
  /// The name in the previous version of the model.
  public var renamingIdentifier: String?
  /// Changes the version hash where nothing else does.
  public var versionHashModifier: String?
  /// The expression of the name shown in Spotlight; kept, without effect here.
  public var coreSpotlightDisplayNameExpression: String?
  /// What code Xcode generates for the entity (`class`, `category`); kept, without effect here.
  public var codeGenerationType: String?
  /// Whatever the model's author attached.
  public var userInfo: [String: Value] = [:]
  /// Where the entity was written.
  @IgnoredInEquality public var location: SourceLocation? = nil
  /// Where uniqueness constraints were written.
  @IgnoredInEquality package var constraintLocations: [[String]: SourceLocation] = [:]

  /// An entity without properties.
  public init(_ name: String) { self.name = name }
}

extension EntityDescription {
  /// Adds an index of the form before fetch indexes, unless a fetch index covers the same properties.
  package mutating func addCompoundIndex(_ names: [String]) {
    guard !names.isEmpty, !indexes.contains(where: { $0.elements.map(\.property) == names }) else { return }
    indexes.append(
      FetchIndexDescription(names.joined(separator: "_"), elements: names.map { FetchIndexDescription.Element($0) }))
  }
}
