/// Which properties of a model have the name of another one of their entity, its own or inherited.
///
/// The hierarchy is walked once, with the names that are inherited at each place: they are not looked at again for each subentity.
struct PropertyNames {
  /// The most properties of one entity; slots are small integers.
  private static let greatestCount = 10_000

  /// What is wrong, by the entity that declares it.
  private(set) var mistakes: [String: [ModelError]] = [:]
  private var mistakeCount = 0
  /// The properties of the entity where the walk is: who declares them.
  private var owners: [String: String] = [:]
  private let subentities: [String: [EntityDescription]]

  /// Walks through a model in which every parent is there, and none inherits from itself.
  init(of model: ManagedObjectModel) throws(ModelError) {
    subentities = Dictionary(grouping: model.entities.filter { $0.superentityName != nil }) { $0.superentityName ?? "" }
    for entity in model.entities where entity.superentityName == nil { try walk(entity) }
  }

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

  private mutating func add(
    _ message: String, of entity: EntityDescription, _ property: String?, at location: SourceLocation?
  ) {
    // More are not told.
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
