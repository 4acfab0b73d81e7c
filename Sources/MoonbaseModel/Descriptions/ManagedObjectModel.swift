/// A managed object model: entities, fetch request templates and configurations.
///
/// A model is a value: copy it, change it, hand it to a container. `resolved()` checks it and numbers its properties.
///
/// ```swift
/// var model = try ManagedObjectModel(contentsOf: url)        // with the umbrella `Moonbase`
/// model.entities[0].attributes.append(AttributeDescription("nick", type: .string))
/// print(try model.luaSource())
/// ```
public struct ManagedObjectModel: Sendable, Hashable {
  /// The entities, in the order written.
  public var entities: [EntityDescription] = []
  /// Fetch requests by name; their predicates may hold `$VARIABLES`.
  public var fetchRequestTemplates: [String: FetchRequest] = [:]
  /// The names of the entities in each configuration. Configurations may overlap.
  public var configurations: [String: [String]] = [:]
  /// Version identifiers, informative only.
  public var versionIdentifiers: [String] = []
  /// Whether unknown class and transformer names are warnings instead of errors. True for models without their app:
  /// Xcode's forms and the cached model of a store.
  @IgnoredInEquality public var allowsUnknownClasses: Bool = false
  /// The reader's warnings, for example about unknown elements that it kept.
  @IgnoredInEquality public var warnings: [String] = []
  /// Settings of Xcode's files that no description can hold. These are not warnings, because the settings have no
  /// effect here.
  @IgnoredInEquality package var omissions: [String] = []
  /// The places of fetch requests, configurations and the file itself, for error messages.
  @IgnoredInEquality package var locations: [ModelPart: SourceLocation] = [:]

  /// An empty model, or one with these entities.
  public init(entities: [EntityDescription] = []) { self.entities = entities }

  /// The entities by name. For a duplicate name, the first entity.
  public var entitiesByName: [String: EntityDescription] {
    Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
  }
}

extension ManagedObjectModel {
  /// The name of the configuration with exactly these entities; nil if there is none.
  package func configuration(of entities: some Sequence<String>) -> String? {
    let wanted = Set(entities)
    return configurations.filter { Set($0.value) == wanted }.keys.min()
  }
}

/// A part of a model without a description that could keep its place in the file.
package enum ModelPart: Sendable, Hashable, CustomStringConvertible {
  /// The model as a whole.
  case file
  case fetchRequest(String)
  case configuration(String)

  /// The part's name in error messages.
  package var description: String {
    switch self {
    case .file: "the model"
    case .fetchRequest(let name): "fetch request \(name)"
    case .configuration(let name): "configuration \(name)"
    }
  }
}
