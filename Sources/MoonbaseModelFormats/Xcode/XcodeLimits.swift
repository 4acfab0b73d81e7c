import MoonbaseModel

/// Finds what a model says that Xcode's form cannot: writing it would lose it in silence.
enum XcodeLimits {
  static func check(_ model: ManagedObjectModel) throws(ModelError) {
    if model.versionIdentifiers.count > 1 {
      throw ModelError(
        .unsupportedForm, "a model of Xcode has one version identifier, not \(model.versionIdentifiers.count)")
    }
    for (name, request) in model.fetchRequestTemplates { try check(request, "fetch request \(name)") }
    for entity in model.entities {
      try check(entity.userInfo, "entity \(entity.name)", entity, nil)
      for attribute in entity.attributes { try check(attribute, of: entity) }
      for relationship in entity.relationships {
        try check(relationship.userInfo, "\(entity.name).\(relationship.name)", entity, relationship.name)
      }
      for property in entity.fetchedProperties {
        try check(property.userInfo, "\(entity.name).\(property.name)", entity, property.name)
        try check(property.fetchRequest, "\(entity.name).\(property.name)")
      }
    }
  }

  private static func check(_ attribute: AttributeDescription, of entity: EntityDescription) throws(ModelError) {
    let name = "\(entity.name).\(attribute.name)"
    try check(attribute.userInfo, name, entity, attribute.name)
    func refuse(_ what: String) throws(ModelError) {
      throw ModelError(
        .unsupportedForm, "\(name): a model of Xcode cannot say \(what): write the model as Lua", entity: entity.name,
        property: attribute.name)
    }
    if attribute.validation.allowedValues != nil { try refuse("which values are allowed") }
    if !attribute.validation.predicates.isEmpty { try refuse("validation predicates") }
    if case .data = attribute.defaultValue { try refuse("a binary default value") }
    for element in attribute.elements { try check(element, of: entity) }
  }

  private static func check(
    _ userInfo: [String: Value], _ name: String, _ entity: EntityDescription, _ property: String?
  ) throws(ModelError) {
    for (key, value) in userInfo {
      if case .string = value { continue }
      throw ModelError(
        .unsupportedForm,
        "\(name): user info \(key) is \(value.typePhrase), and a model of Xcode holds only strings",
        entity: entity.name, property: property)
    }
  }

  private static func check(_ request: FetchRequest, _ name: String) throws(ModelError) {
    var plain = FetchRequest(request.entityName, where: request.predicate)
    plain.resultType = request.resultType
    for aspect in FetchRequest.aspects where !aspect.xcode.isEmpty { aspect.copy(from: request, to: &plain) }
    if plain != request {
      throw ModelError(
        .unsupportedForm,
        "\(name): a model of Xcode says of a fetch its predicate, limit, batch size, result type and flags, and no more: write the model as Lua"
      )
    }
  }
}
