import MoonbasePlatform

extension ModelChecker {
  // MARK: Attributes

  /// Checks an attribute: its type, its rules, its values and its elements.
  ///
  /// Throws `.invalidModel` for the first mistake.
  func check(_ attribute: AttributeDescription, of entity: EntityDescription) throws(ModelError) {
    try ModelError.chargeProperty()
    func invalid(_ message: String) -> ModelError {
      ModelError(
        .invalidModel, message: "\(entity.name).\(attribute.name) \(message)", at: attribute.location,
        entity: entity.name,
        property: attribute.name)
    }
    if attribute.type == .undefined, !attribute.isTransient {
      throw invalid("has no type, so no store can keep it: give it one or make it transient")
    }
    if attribute.type == .objectID, !attribute.isTransient {
      throw invalid("is an object ID, which no store can keep: make it a relationship or transient")
    }
    if attribute.derivationExpression != nil, attribute.isTransient {
      throw invalid("is derived in the store and transient: choose one")
    }
    if attribute.type != .composite, !attribute.elements.isEmpty {
      throw invalid("has elements but is no composite")
    }
    var names: Set<String> = []
    for element in attribute.elements where !names.insert(element.name).inserted || element.name.isEmpty {
      throw invalid("has two elements called \(element.name), or one without a name")
    }
    // Unknown classes cannot be checked, and in a model without its app such rules do no harm.
    if !model.allowsUnknownClasses {
      do {
        try checkValues(of: attribute)
        try checkRules(of: attribute)
      } catch { throw invalid(error.message) }
    }
    for element in attribute.elements { try check(element, of: entity) }
  }

  /// Refuses bounds and lengths on types that they do not apply to. No model format except an archive could keep them.
  ///
  /// Throws `.invalidModel`. The caller adds the name of the attribute.
  private func checkRules(of attribute: AttributeDescription) throws(ModelError) {
    let validation = attribute.validation
    switch CheckedType(attribute) {
    case .number, .date: break
    default:
      guard validation.minimum == nil, validation.maximum == nil else {
        throw ModelError(
          .invalidModel, message: "is \(attribute.type.phrase): a minimum or maximum is for numbers and dates")
      }
    }
    if let length = [validation.minimumLength, validation.maximumLength].compactMap(\.self).first(where: { $0 < 0 }) {
      throw ModelError(.invalidModel, message: "has a length of \(length): no string is shorter than 0")
    }
    guard attribute.type != .string else { return }
    if validation.minimumLength != nil || validation.maximumLength != nil || validation.regularExpression != nil {
      throw ModelError(.invalidModel, message: "is \(attribute.type.phrase): lengths and patterns are for strings")
    }
  }

  /// Checks that default, bounds and allowed values fit the type, and that the bounds are not empty.
  ///
  /// Throws `.invalidValue` for a value of another type, and `.invalidModel` for an empty range.
  private func checkValues(of attribute: AttributeDescription) throws(ModelError) {
    let validation = attribute.validation
    let values = [attribute.defaultValue, validation.minimum, validation.maximum].compactMap(\.self)
    for value in values + (validation.allowedValues ?? []) where !value.isNull {
      _ = try attribute.checked(value)
    }
    if let least = validation.minimum, let greatest = validation.maximum, Value.compare(greatest, least) == .ascending {
      throw ModelError(.invalidModel, message: "has a minimum above its maximum")
    }
    if let least = validation.minimumLength, let greatest = validation.maximumLength, least > greatest {
      throw ModelError(.invalidModel, message: "has a minimum length above its maximum length")
    }
    guard let pattern = validation.regularExpression else { return }
    if let mistake = TextLimits.mistake(ofPattern: pattern) {
      throw ModelError(.invalidModel, message: "has \(mistake)")
    }
    if (try? NSRegularExpression(pattern: pattern)) == nil {
      throw ModelError(.invalidModel, message: "has a pattern that is no regular expression: \(pattern)")
    }
  }

  // MARK: Relationships

  /// Checks a relationship: destination, inverse, counts and order.
  ///
  /// Throws `.invalidModel` for the first mistake.
  func check(_ relationship: RelationshipDescription, of entity: EntityDescription) throws(ModelError) {
    try ModelError.chargeProperty()
    let name = "\(entity.name).\(relationship.name)"
    guard let destination = entities[relationship.destinationEntityName] else {
      let wanted = relationship.destinationEntityName
      throw invalid(
        "\(name): its destination \(wanted) is not in the model\(nearestEntity(wanted))", of: entity,
        relationship: relationship)
    }
    if relationship.minCount < 0
      || (relationship.maxCount > 0 && relationship.minCount > relationship.maxCount)
    {
      throw invalid(
        "\(name): its least count \(relationship.minCount) does not fit its greatest \(relationship.maxCount)",
        of: entity,
        relationship: relationship)
    }
    if Int32(exactly: relationship.minCount) == nil || Int32(exactly: relationship.maxCount) == nil {
      throw invalid(
        "\(name): its counts do not fit 32 bits: 0 stands for no bound", of: entity, relationship: relationship)
    }
    // In a model without its app, an inverse that does not refer back is treated as absent.
    guard let inverseName = relationship.inverseName, !model.allowsUnknownClasses else { return }
    let family = lineage(of: destination)
    guard let inverse = family.lazy.compactMap({ relationships.named(inverseName, of: $0) }).first else {
      throw invalid(
        "\(name): its inverse \(inverseName) is not a relationship of \(destination.name)"
          + suggestion(for: inverseName, among: family.flatMap(\.relationships).map(\.name)), of: entity,
        relationship: relationship)
    }
    if let back = inverse.inverseName, back != relationship.name {
      throw invalid(
        "\(name): its inverse \(inverseName) names \(back) as its own inverse", of: entity, relationship: relationship)
    }
    if !areRelated(inverse.destinationEntityName, entity.name) {
      throw invalid(
        "\(name): its inverse \(inverseName) leads to \(inverse.destinationEntityName), not back to \(entity.name)",
        of: entity,
        relationship: relationship)
    }
  }

  /// Whether two entities are equal or one inherits from the other.
  private func areRelated(_ left: String, _ right: String) -> Bool {
    guard let first = entities[left], let second = entities[right] else { return false }
    return lineage(of: first).contains { $0.name == right } || lineage(of: second).contains { $0.name == left }
  }

  // MARK: Fetched properties

  /// Checks that the entity of a fetched property's request exists.
  func check(_ property: FetchedPropertyDescription, of entity: EntityDescription) throws(ModelError) {
    try ModelError.chargeProperty()
    let wanted = property.fetchRequest.entityName
    guard entities[wanted] == nil else { return }
    throw ModelError(
      .invalidModel,
      message: "\(entity.name).\(property.name): its entity \(wanted) is not in the model\(nearestEntity(wanted))",
      at: property.location, entity: entity.name, property: property.name)
  }
}
