extension ManagedObjectModel {
  /// Refuses what is nested too deeply to be walked: predicates, values, and composites in composites. Readers make none such,
  /// code may. Throws `.invalidModel` with the place.
  package func checkNesting() throws(ModelError) {
    for entity in entities {
      try check(entity.userInfo, "entity \(entity.name)", entity.location)
      for attribute in entity.attributes { try check(attribute, of: entity) }
      for relationship in entity.relationships {
        try check(relationship.userInfo, "\(entity.name).\(relationship.name)", relationship.location)
      }
      for property in entity.fetchedProperties {
        let owner = "\(entity.name).\(property.name)"
        try check(property.userInfo, owner, property.location)
        try check(property.fetchRequest, owner, property.location)
      }
    }
    for (name, request) in fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
      let part = ModelPart.fetchRequest(name)
      try check(request, "\(part)", locations[part])
    }
  }

  private func check(_ attribute: AttributeDescription, of entity: EntityDescription) throws(ModelError) {
    let owner = "\(entity.name).\(attribute.name)"
    if attribute.elements.isEmpty { return try check(part: attribute, owner, attribute.location) }
    if TreeLimits.areExceeded(by: attribute, \.elements) {
      throw refusal("\(owner): its composites are", attribute.location)
    }
    var pending = [attribute]
    while let part = pending.popLast() {
      try check(part: part, owner, attribute.location)
      pending += part.elements
    }
  }

  private func check(
    part attribute: AttributeDescription, _ owner: String, _ location: SourceLocation?
  ) throws(ModelError) {
    try check(attribute.userInfo, owner, location)
    let validation = attribute.validation
    for value in [attribute.defaultValue, validation.minimum, validation.maximum].compactMap(\.self)
      + (validation.allowedValues ?? [])
    where value.isNestedTooDeeply { throw refusal("\(owner): one of its values is", location) }
    for rule in validation.predicates { try check(.predicate(rule.predicate), owner, location) }
  }

  private func check(_ request: FetchRequest, _ owner: String, _ location: SourceLocation?) throws(ModelError) {
    for predicate in [request.predicate, request.havingPredicate].compactMap(\.self) {
      try check(.predicate(predicate), owner, location)
    }
    for column in request.propertiesToFetch { try check(.expression(column.expression), owner, location) }
  }

  private func check(_ node: PredicateNode, _ owner: String, _ location: SourceLocation?) throws(ModelError) {
    if node.isTooDeep || node.hasDeepValue { throw refusal("\(owner): a predicate or a value in it is", location) }
  }

  private func check(
    _ userInfo: [String: Value], _ owner: String, _ location: SourceLocation?
  ) throws(ModelError) {
    if userInfo.values.contains(where: \.isNestedTooDeeply) { throw refusal("\(owner): its user info is", location) }
  }

  private func refusal(_ subject: String, _ location: SourceLocation?) -> ModelError {
    ModelError(.invalidModel, "\(subject) nested too deeply: make it flatter", at: location)
  }
}
