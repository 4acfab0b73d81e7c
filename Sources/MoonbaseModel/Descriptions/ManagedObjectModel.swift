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
  /// Names of the entities of each configuration. Sets may overlap.
  public var configurations: [String: [String]] = [:]
  /// Version identifiers, informative only.
  public var versionIdentifiers: [String] = []
  /// Whether class and transformer names that nothing provides are warnings instead of errors: true for models whose app we
  /// do not have (Xcode's forms and a store's own cache).
  @IgnoredInEquality public var allowsUnknownClasses: Bool = false
  /// What a reader found worth telling, for example elements that it kept without understanding them.
  @IgnoredInEquality public var warnings: [String] = []
  /// The settings of Xcode's files that no description has a place for. No warning: it has no effect here.
  @IgnoredInEquality package var omissions: [String] = []
  /// Where fetch requests and configurations were written, and the file itself: for the messages of errors.
  @IgnoredInEquality package var locations: [ModelPart: SourceLocation] = [:]

  /// An empty model, or one with these entities.
  public init(entities: [EntityDescription] = []) { self.entities = entities }

  /// The entities by name; of two with one name the first.
  public var entitiesByName: [String: EntityDescription] {
    Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
  }
}

extension ManagedObjectModel {
  /// The configuration with just these entities; nil where there is none.
  package func configuration(of entities: some Sequence<String>) -> String? {
    let wanted = Set(entities)
    return configurations.filter { Set($0.value) == wanted }.keys.min()
  }
}

/// A part of a model that has no description of its own to keep its place in a file.
package enum ModelPart: Sendable, Hashable, CustomStringConvertible {
  /// The model as a whole.
  case file
  case fetchRequest(String)
  case configuration(String)

  /// As the messages of errors name it.
  package var description: String {
    switch self {
    case .file: "the model"
    case .fetchRequest(let name): "fetch request \(name)"
    case .configuration(let name): "configuration \(name)"
    }
  }
}
