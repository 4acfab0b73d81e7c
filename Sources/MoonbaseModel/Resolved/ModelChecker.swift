/// Refuses models that contradict themselves. Nothing after it needs to doubt a name.
struct ModelChecker {
  let model: ManagedObjectModel

  func check() throws(ModelError) {
    try checkEntityNames()
    try checkParents()
    for entity in model.entities {
      try checkPropertyNames(of: entity)
      for relationship in entity.relationships { try check(relationship, of: entity) }
      try checkConstraints(of: entity)
    }
    try checkConfigurations()
  }

  private func checkEntityNames() throws(ModelError) {
    var seen: Set<String> = []
    for entity in model.entities {
      if entity.name.isEmpty { throw invalid("an entity has no name: give it one", entity) }
      if !seen.insert(entity.name).inserted {
        throw invalid("entity \(entity.name) is declared twice: remove or rename one of them", entity)
      }
    }
  }

  private func checkParents() throws(ModelError) {
    let entities = model.entitiesByName
    for entity in model.entities {
      var seen: Set<String> = [entity.name]
      var current = entity
      while let name = current.superentityName {
        guard let parent = entities[name] else {
          throw invalid("entity \(current.name): its parent \(name) is not in the model", current)
        }
        if !seen.insert(name).inserted { throw invalid("entity \(entity.name) inherits from itself", entity) }
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
  }

  private func checkName(_ name: String, of entity: EntityDescription, at location: SourceLocation?)
    throws(ModelError)
  {
    let advice =
      name.isEmpty
      ? "entity \(entity.name) has a property without a name: give it one"
      : refusedPropertyNames.contains(name)
        ? "entity \(entity.name): no property may be called \(name), the name of a method of every object: rename it"
        : nil
    if let advice {
      throw ModelError(.invalidModel, advice, at: location, entity: entity.name, property: name)
    }
  }

  private func check(_ relationship: RelationshipDescription, of entity: EntityDescription) throws(ModelError) {
    let entities = model.entitiesByName
    let name = "\(entity.name).\(relationship.name)"
    guard let destination = entities[relationship.destinationEntityName] else {
      throw invalid(
        "\(name): its destination \(relationship.destinationEntityName) is not in the model", entity, relationship)
    }
    guard let inverseName = relationship.inverseName else { return }
    let candidates = lineage(of: destination).flatMap(\.relationships)
    guard let inverse = candidates.first(where: { $0.name == inverseName }) else {
      throw invalid(
        "\(name): its inverse \(inverseName) is not a relationship of \(destination.name)", entity, relationship)
    }
    if let back = inverse.inverseName, back != relationship.name {
      throw invalid("\(name): its inverse \(inverseName) names \(back) as its own inverse", entity, relationship)
    }
  }

  private func checkConstraints(of entity: EntityDescription) throws(ModelError) {
    let names = Set(lineage(of: entity).flatMap { propertyNames(of: $0) }.map(\.0))
    for name in entity.uniquenessConstraints.joined() where !names.contains(name) {
      throw invalid("entity \(entity.name): its uniqueness constraint names \(name), which it does not have", entity)
    }
  }

  private func checkConfigurations() throws(ModelError) {
    let entities = model.entitiesByName
    for (name, members) in model.configurations {
      for member in members where entities[member] == nil {
        throw ModelError(.invalidModel, "configuration \(name) names \(member), which is not an entity of the model")
      }
    }
  }

  // MARK: Looking around

  /// The entity's ancestors from the topmost down, then itself.
  private func lineage(of entity: EntityDescription) -> [EntityDescription] {
    let entities = model.entitiesByName
    var result = [entity]
    while let name = result[0].superentityName, let parent = entities[name], result.count <= model.entities.count {
      result.insert(parent, at: 0)
    }
    return result
  }

  private func propertyNames(of entity: EntityDescription) -> [(String, SourceLocation?)] {
    entity.attributes.map { ($0.name, $0.location) } + entity.relationships.map { ($0.name, $0.location) }
      + entity.fetchedProperties.map { ($0.name, $0.location) }
  }

  private func invalid(
    _ message: String, _ entity: EntityDescription, _ relationship: RelationshipDescription? = nil
  ) -> ModelError {
    ModelError(
      .invalidModel, message, at: relationship?.location ?? entity.location, entity: entity.name,
      property: relationship?.name)
  }
}

/// Names of parameterless methods of Core Data's objects, which Core Data refuses as property names (managed object model
/// guide and class documentation).
private let refusedPropertyNames: Set<String> = Set(
  """
  attributeKeys autorelease awakeFromFetch awakeFromInsert changedValues changedValuesForCurrentEvent class classDescription \
  className classForCoder classForKeyedArchiver classForArchiver copy dealloc debugDescription deleted description didSave \
  didTurnIntoFault entity fault faultingState finalize hasChanges hasFault hasPersistentChangedValues hash init inserted \
  isDeleted isFault isInserted isProxy isUpdated managedObjectContext mutableCopy objectID observationInfo \
  prepareForDeletion release retain retainCount scriptingProperties self superclass toManyRelationshipKeys \
  toOneRelationshipKeys updated willSave willTurnIntoFault zone
  """.split(separator: " ").map(String.init))
