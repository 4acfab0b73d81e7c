/// Finds properties with the same name as another property of their entity, own or inherited.
///
/// The hierarchy is walked once with the inherited names, so that ancestors are not searched again for each subentity.
struct PropertyNames {
  /// The most properties of one entity; slots are small integers.
  private static let greatestCount = 10_000

  /// The mistakes, by the name of the entity that declares the property.
  private(set) var mistakes: [String: [ModelError]] = [:]
  /// The number of mistakes of all entities.
  private var mistakeCount = 0
  /// The properties of the entity being visited, each with the entity that declares it.
  private var owners: [String: String] = [:]
  /// The subentities by the name of their parent.
  private let subentities: [String: [EntityDescription]]

  /// Walks a model in which every parent exists and no entity inherits from itself.
  init(of model: ManagedObjectModel) throws(ModelError) {
    subentities = Dictionary(grouping: model.entities.filter { $0.superentityName != nil }) { $0.superentityName ?? "" }
    for entity in model.entities where entity.superentityName == nil { try walk(entity) }
  }

  /// Visits an entity and its subentities, with the names of the ancestors in `owners`.
  private mutating func walk(_ entity: EntityDescription) throws(ModelError) {
    let names = entity.propertyNames
    try ModelError.charge(names.count)
    var former: [(name: String, owner: String?)] = []
    for (name, location) in names {
      let owner = owners.updateValue(entity.name, forKey: name)
      former.append((name, owner))
      guard let owner else { continue }
      let place = owner == entity.name ? "twice" : "and inherits it from \(owner)"
      add("entity \(entity.name) declares \(name) \(place): rename one of them", of: entity, name, at: location)
    }
    if owners.count > Self.greatestCount {
      let message = "entity \(entity.name) has more than \(Self.greatestCount) properties"
      add(message, of: entity, nil, at: entity.location)
    }
    for subentity in subentities[entity.name] ?? [] { try walk(subentity) }
    for (name, owner) in former.reversed() { owners[name] = owner }
  }

  /// Adds a mistake about an entity.
  private mutating func add(
    _ message: String, of entity: EntityDescription, _ property: String?, at location: SourceLocation?
  ) {
    // Further mistakes are not collected.
    guard mistakeCount < Mistakes.greatestCount else { return }
    mistakeCount += 1
    mistakes[entity.name, default: []].append(
      ModelError(.invalidModel, message: message, at: location, entity: entity.name, property: property))
  }
}

extension EntityDescription {
  /// The names of the entity's own properties of all kinds.
  var propertyNames: [(name: String, location: SourceLocation?)] {
    attributes.map { ($0.name, $0.location) } + relationships.map { ($0.name, $0.location) }
      + fetchedProperties.map { ($0.name, $0.location) }
  }
}
