import MoonbaseModel

/// Finds what a model says that Xcode's form cannot: writing it would lose it in silence.
enum XcodeLimits {
  static func check(_ model: ManagedObjectModel) throws(ModelError) {
    if model.versionIdentifiers.count > 1 {
      throw ModelError(
        .unsupportedForm, message: "a model of Xcode has one version identifier, not \(model.versionIdentifiers.count)")
    }
    for (name, request) in model.fetchRequestTemplates { try check(request, name: "fetch request \(name)") }
    for entity in model.entities {
      try check(entity.userInfo, name: "entity \(entity.name)", of: entity, property: nil)
      for attribute in entity.attributes { try check(attribute, of: entity) }
      for relationship in entity.relationships {
        try check(
          relationship.userInfo, name: "\(entity.name).\(relationship.name)", of: entity, property: relationship.name)
      }
      for property in entity.fetchedProperties {
        try check(property.userInfo, name: "\(entity.name).\(property.name)", of: entity, property: property.name)
        try check(property.fetchRequest, name: "\(entity.name).\(property.name)")
      }
    }
  }

  private static func check(_ attribute: AttributeDescription, of entity: EntityDescription) throws(ModelError) {
    let name = "\(entity.name).\(attribute.name)"
    try check(attribute.userInfo, name: name, of: entity, property: attribute.name)
    func refuse(_ what: String) throws(ModelError) {
      throw ModelError(
        .unsupportedForm, message: "\(name): a model of Xcode cannot say \(what): write the model as Lua",
        entity: entity.name,
        property: attribute.name)
    }
    if attribute.validation.allowedValues != nil { try refuse("which values are allowed") }
    if !attribute.validation.predicates.isEmpty { try refuse("validation predicates") }
    if case .data = attribute.defaultValue { try refuse("a binary default value") }
    for element in attribute.elements { try check(element, of: entity) }
  }

  private static func check(
    _ userInfo: [String: Value], name: String, of entity: EntityDescription, property: String?
  ) throws(ModelError) {
    for (key, value) in userInfo {
      if case .string = value { continue }
      throw ModelError(
        .unsupportedForm,
        message: "\(name): user info \(key) is \(value.typePhrase), and a model of Xcode holds only strings",
        entity: entity.name, property: property)
    }
  }

  private static func check(_ request: FetchRequest, name: String) throws(ModelError) {
    var plain = FetchRequest(request.entityName, where: request.predicate)
    plain.resultType = request.resultType
    for aspect in FetchRequest.aspects where !aspect.xcode.isEmpty { aspect.copy(from: request, to: &plain) }
    if plain != request {
      throw ModelError(
        .unsupportedForm,
        message:
          "\(name): a model of Xcode says of a fetch its predicate, limit, batch size, result type and flags, and no more: write the model as Lua"
      )
    }
  }
}
