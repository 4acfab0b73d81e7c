/// Refuses models that contradict themselves. Nothing after it needs to doubt a name.
struct ModelChecker {
  /// Deeper hierarchies are a mistake or an attack; entities are walked recursively later.
  private static let greatestDepth = 100
  /// The most properties of one entity; slots are small integers.
  private static let greatestPropertyCount = 10_000

  let model: ManagedObjectModel
  let entities: [String: EntityDescription]

  init(model: ManagedObjectModel) {
    self.model = model
    entities = model.entitiesByName
  }

  func check() throws(ModelError) {
    try checkEntityNames()
    try checkParents()
    for entity in model.entities {
      try checkPropertyNames(of: entity)
      for attribute in entity.attributes { try check(attribute, of: entity) }
      for relationship in entity.relationships { try check(relationship, of: entity) }
      for property in entity.fetchedProperties { try check(property, of: entity) }
      try checkConstraints(of: entity)
      try checkIndexes(of: entity)
    }
    try checkFetchRequestTemplates()
    try checkConfigurations()
  }

  // MARK: Entities

  private func checkEntityNames() throws(ModelError) {
    var seen: Set<String> = []
    for entity in model.entities {
      if entity.name.isEmpty { throw invalid("an entity has no name: give it one", entity) }
      if !Identifier.isOne(entity.name) {
        throw invalid("entity \(Identifier.shown(entity.name)): \(Identifier.rule)", entity)
      }
      if !seen.insert(entity.name).inserted {
        throw invalid("entity \(entity.name) is declared twice: remove or rename one of them", entity)
      }
    }
  }

  private func checkParents() throws(ModelError) {
    for entity in model.entities {
      var seen: Set<String> = [entity.name]
      var current = entity
      while let name = current.superentityName {
        guard let parent = entities[name] else {
          throw invalid("entity \(current.name): its parent \(name) is not in the model\(nearestEntity(name))", current)
        }
        if !seen.insert(name).inserted {
          throw invalid(
            "entity \(entity.name) inherits from itself: \(current.name) has the parent \(name), give it another",
            entity)
        }
        if seen.count > Self.greatestDepth {
          throw invalid(
            "entity \(entity.name) has more than \(Self.greatestDepth) ancestors: make the hierarchy flatter", entity)
        }
        current = parent
      }
    }
  }

  private func checkPropertyNames(of entity: EntityDescription) throws(ModelError) {
    var owners: [String: String] = [:]
    for ancestor in lineage(of: entity) {
      for (name, location) in propertyNames(of: ancestor) {
        try checkName(name, of: ancestor, at: location)
        if let owner = owners[name] {
          let place = owner == ancestor.name ? "twice" : "and inherits it from \(owner)"
          throw ModelError(
            .invalidModel, "entity \(ancestor.name) declares \(name) \(place): rename one of them", at: location,
            entity: ancestor.name, property: name)
        }
        owners[name] = ancestor.name
      }
    }
    if owners.count > Self.greatestPropertyCount {
      throw invalid("entity \(entity.name) has more than \(Self.greatestPropertyCount) properties", entity)
    }
  }

  private func checkName(_ name: String, of entity: EntityDescription, at location: SourceLocation?)
    throws(ModelError)
  {
    let advice =
      name.isEmpty
      ? "entity \(entity.name) has a property without a name: give it one"
      : RefusedPropertyNames.names.contains(name)
        ? "entity \(entity.name): no property may be called \(name), the name of a method of every object: rename it"
        : Identifier.isOne(name)
          ? nil : "entity \(entity.name), property \(Identifier.shown(name)): \(Identifier.rule)"
    if let advice {
      throw ModelError(.invalidModel, advice, at: location, entity: entity.name, property: name)
    }
  }

  private func checkConstraints(of entity: EntityDescription) throws(ModelError) {
    if entity.uniquenessConstraints.isEmpty { return }
    let lineage = lineage(of: entity)
    let names =
      lineage.flatMap(\.attributes).map(\.name) + lineage.flatMap(\.relationships).filter { !$0.isToMany }.map(\.name)
    let known = Set(names)
    for constraint in entity.uniquenessConstraints {
      if constraint.isEmpty {
        throw invalid("entity \(entity.name): a uniqueness constraint names no attribute", entity)
      }
      for name in constraint where !known.contains(name) {
        throw invalid(
          "entity \(entity.name): its uniqueness constraint names \(name), which is no attribute or to-one relationship of it"
            + suggestion(for: name, among: names), entity)
      }
    }
  }

  private func checkIndexes(of entity: EntityDescription) throws(ModelError) {
    var seen: Set<String> = []
    let names = entity.indexes.isEmpty ? [] : lineage(of: entity).flatMap { propertyNames(of: $0) }.map(\.0)
    for index in entity.indexes {
      if !seen.insert(index.name).inserted {
        throw invalid("entity \(entity.name) has two indexes \(index.name)", entity)
      }
      for element in index.elements where !element.isExpression && !names.contains(element.property) {
        throw invalid(
          "entity \(entity.name): its index \(index.name) names \(element.property), which it does not have"
            + suggestion(for: element.property, among: names), entity)
      }
    }
  }

  // MARK: Model

  private func checkFetchRequestTemplates() throws(ModelError) {
    for (name, request) in model.fetchRequestTemplates where entities[request.entityName] == nil {
      throw ModelError(
        .invalidModel,
        "fetch request \(name): its entity \(request.entityName) is not in the model\(nearestEntity(request.entityName))",
        at: model.locations["fetch request \(name)"])
    }
  }

  private func checkConfigurations() throws(ModelError) {
    var homes: [String: Set<String>] = [:]
    for (name, members) in model.configurations {
      for member in members {
        if entities[member] == nil {
          throw ModelError(
            .invalidModel,
            "configuration \(name) names \(member), which is not an entity of the model\(nearestEntity(member))",
            at: model.locations["configuration \(name)"])
        }
        homes[member, default: []].insert(name)
      }
    }
    for entity in model.entities {
      guard let own = homes[entity.name] else { continue }
      for relationship in entity.relationships {
        guard let other = homes[relationship.destinationEntityName], own.isDisjoint(with: other) else { continue }
        throw invalid(
          "\(entity.name).\(relationship.name) leads to \(relationship.destinationEntityName), which no configuration holds "
            + "together with \(entity.name): relationships cannot cross stores, use a fetched property", entity,
          relationship)
      }
    }
  }

  // MARK: Looking around

  /// An entity and its ancestors, the topmost first.
  func lineage(of entity: EntityDescription) -> [EntityDescription] {
    var result = [entity]
    var current = entity
    while let name = current.superentityName, let parent = entities[name], result.count <= Self.greatestDepth {
      result.append(parent)
      current = parent
    }
    return result.reversed()
  }

  func nearestEntity(_ name: String) -> String { suggestion(for: name, among: model.entities.map(\.name)) }

  private func propertyNames(of entity: EntityDescription) -> [(String, SourceLocation?)] {
    entity.attributes.map { ($0.name, $0.location) } + entity.relationships.map { ($0.name, $0.location) }
      + entity.fetchedProperties.map { ($0.name, $0.location) }
  }

  func invalid(_ message: String, _ entity: EntityDescription, _ relationship: RelationshipDescription? = nil)
    -> ModelError
  {
    ModelError(
      .invalidModel, message, at: relationship?.location ?? entity.location, entity: entity.name,
      property: relationship?.name)
  }
}
