import MoonbasePlatform

extension ResolvedModel {
  /// The model with attributes that only extensions declare. Contexts look up names in it; rows, stores and the
  /// coordinator use the model without them. Attributes that an entity has already, declared or inherited, are skipped.
  ///
  /// `generation` is the number of the extensions, for messages. Throws `.invalidModel` if a name is used otherwise in
  /// a subentity or by a fetched property, and if a subentity declares another type than its ancestor.
  package func adding(_ attributes: [AddedAttribute], generation: Int) throws(ModelError) -> ResolvedModel {
    if attributes.isEmpty, generation == 0 { return self }
    let byEntity = Dictionary(grouping: attributes, by: \.entity)
    var entities: [ResolvedEntity] = []
    for entity in self.entities {
      var added = entity.parent.map { entities[$0].addedProperties } ?? []
      for attribute in byEntity[entity.name] ?? [] where entity.slot(attribute.name) == nil {
        if let inherited = added.first(where: { ExactText.areSame($0.name, attribute.name) }) {
          try check(attribute, against: inherited)
          continue
        }
        try checkName(of: attribute, in: entity)
        let slot = entity.addedSlots.slot(
          of: attribute.name, in: entity, at: attribute.location, first: rowLength(of: entity.root))
        added.append(
          ResolvedProperty(
            name: attribute.name, slot: slot, declaringEntity: entity.index, kind: .attribute(attribute.description)))
      }
      entities.append(ResolvedEntity(entity, adding: added, generation: generation))
    }
    return ResolvedModel(self, entities: entities)
  }

  /// The number of slots in the longest row of a family.
  private func rowLength(of root: EntityIndex) -> Int {
    entities[entities[root].subtree].reduce(0) { max($0, $1.properties.count) }
  }

  /// Throws `.invalidModel` if the attribute has another type than the inherited one.
  private func check(_ attribute: AddedAttribute, against inherited: ResolvedProperty) throws(ModelError) {
    let parent = entities[inherited.declaringEntity].name
    guard let message = attribute.mismatch(overriding: inherited.attributeType, of: parent) else { return }
    throw ModelError(
      .invalidModel, message: message, at: attribute.location, entity: attribute.entity, property: attribute.name)
  }

  /// Refuses a name that has another meaning in the entity or a descendant, because it would be ambiguous.
  ///
  /// Throws `.invalidModel` with the entity of the other meaning.
  private func checkName(of attribute: AddedAttribute, in entity: ResolvedEntity) throws(ModelError) {
    for other in entities[entity.subtree] {
      let isFetched = other.fetchedProperties[attribute.name] != nil
      guard isFetched || other.slot(attribute.name) != nil else { continue }
      let what = isFetched ? "a fetched property" : "a property"
      throw ModelError(
        .invalidModel,
        message:
          "\(attribute.entity).\(attribute.name) has the name of \(what) of \(other.name) in the model: a derived attribute "
          + "needs another name", at: attribute.location, entity: attribute.entity, property: attribute.name)
    }
  }
}

extension ManagedObjectModel {
  /// The model with attributes of extensions as transient attributes, for checking it as a whole.
  package func with(_ attributes: [AddedAttribute]) -> ManagedObjectModel {
    var model = self
    let places = Dictionary(entities.indices.map { (entities[$0].name, $0) }) { first, _ in first }
    for attribute in attributes {
      if let place = places[attribute.entity] { model.entities[place].attributes.append(attribute.description) }
    }
    return model
  }
}
