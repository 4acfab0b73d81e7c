extension ManagedObjectModel {
  /// Refuses predicates, values and composites that are nested too deeply for recursive functions. Readers limit the
  /// nesting, but a model built in code may exceed it. Throws `.invalidModel` with the place.
  ///
  /// The search uses an explicit stack and not recursion, so it is safe for any model.
  package func checkNesting() throws(ModelError) {
    for entity in entities {
      try check(entity.userInfo, owner: "entity \(entity.name)", at: entity.location)
      for attribute in entity.attributes { try check(attribute, of: entity) }
      for relationship in entity.relationships {
        try check(relationship.userInfo, owner: "\(entity.name).\(relationship.name)", at: relationship.location)
      }
      for property in entity.fetchedProperties {
        let owner = "\(entity.name).\(property.name)"
        try check(property.userInfo, owner: owner, at: property.location)
        try check(property.fetchRequest, owner: owner, at: property.location)
      }
    }
    for (name, request) in fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
      let part = ModelPart.fetchRequest(name)
      try check(request, owner: "\(part)", at: locations[part])
    }
  }

  /// Checks an attribute with all of its elements.
  private func check(_ attribute: AttributeDescription, of entity: EntityDescription) throws(ModelError) {
    let owner = "\(entity.name).\(attribute.name)"
    if attribute.elements.isEmpty { return try check(part: attribute, owner: owner, at: attribute.location) }
    if TreeLimits.areExceeded(by: attribute, \.elements) {
      throw refusal("\(owner): its composites are", at: attribute.location)
    }
    var pending = [attribute]
    while let part = pending.popLast() {
      try check(part: part, owner: owner, at: attribute.location)
      pending += part.elements
    }
  }

  /// Checks the values and predicates of a single attribute or element.
  private func check(
    part attribute: AttributeDescription, owner: String, at location: SourceLocation?
  ) throws(ModelError) {
    try check(attribute.userInfo, owner: owner, at: location)
    let validation = attribute.validation
    for value in [attribute.defaultValue, validation.minimum, validation.maximum].compactMap(\.self)
      + (validation.allowedValues ?? [])
    where value.isNestedTooDeeply { throw refusal("\(owner): one of its values is", at: location) }
    for rule in validation.predicates { try check(.predicate(rule.predicate), owner: owner, at: location) }
  }

  /// Checks the predicates and columns of a fetch request.
  private func check(_ request: FetchRequest, owner: String, at location: SourceLocation?) throws(ModelError) {
    for predicate in [request.predicate, request.havingPredicate].compactMap(\.self) {
      try check(.predicate(predicate), owner: owner, at: location)
    }
    for column in request.propertiesToFetch { try check(.expression(column.expression), owner: owner, at: location) }
  }

  /// Checks a predicate or an expression.
  private func check(_ node: PredicateNode, owner: String, at location: SourceLocation?) throws(ModelError) {
    if node.isTooDeep || node.hasDeepValue { throw refusal("\(owner): a predicate or a value in it is", at: location) }
  }

  /// Checks user info.
  private func check(
    _ userInfo: [String: Value], owner: String, at location: SourceLocation?
  ) throws(ModelError) {
    if userInfo.values.contains(where: \.isNestedTooDeeply) {
      throw refusal("\(owner): its user info is", at: location)
    }
  }

  /// The error about a part that is nested too deeply.
  private func refusal(_ subject: String, at location: SourceLocation?) -> ModelError {
    ModelError(.invalidModel, message: "\(subject) nested too deeply: make it flatter", at: location)
  }
}
