import MoonbasePlatform

/// Finds what is worth telling about a model without being wrong.
struct ModelWarnings {
  let model: ResolvedModel

  func find() -> [String] {
    let entities = model.description.entities
    if entities.isEmpty { return ["the model has no entity"] }
    return entities.flatMap { warnings(of: $0) + warningsOfDerivations(in: $0) + warningsOfIndexes(in: $0) }
  }

  /// What no store can keep current.
  private func warningsOfDerivations(in entity: EntityDescription) -> [String] {
    let derived = entity.attributes.filter { $0.derivationExpression != nil && !$0.isTransient }
    guard !derived.isEmpty, let resolved = model.entity(entity.name) else { return [] }
    let kept = Set(model.storedDerivations(of: resolved).map { resolved.properties[$0.slot].name })
    return derived.filter { !kept.contains($0.name) }.map {
      text(
        entity, name: $0.name, at: $0.location,
        what:
          "is derived from \($0.derivationExpression ?? ""), which no store here keeps current: let an extension derive it, "
          + "in an attribute of its own")
    }
  }

  /// Indexes that no file has.
  private func warningsOfIndexes(in entity: EntityDescription) -> [String] {
    guard let resolved = model.entity(entity.name) else { return [] }
    return resolved.unstoredIndexes.map { index, reason in
      let place = index.location.map { "\($0): " } ?? ""
      return "\(place)entity \(entity.name): its index \(index.name) is made in no store here: \(reason)"
    }
  }

  private func warnings(of entity: EntityDescription) -> [String] {
    let attributes = entity.attributes.flatMap { attribute in
      warnings(of: attribute).map { text(entity, name: attribute.name, at: attribute.location, what: $0) }
    }
    let relationships = entity.relationships.flatMap { relationship in
      warnings(of: relationship).map { text(entity, name: relationship.name, at: relationship.location, what: $0) }
    }
    return attributes + relationships
  }

  private func text(_ entity: EntityDescription, name: String, at location: SourceLocation?, what: String) -> String {
    "\(location.map { "\($0): " } ?? "")\(entity.name).\(name) \(what)"
  }

  private func warnings(of attribute: AttributeDescription) -> [String] {
    var result: [String] = []
    let isStored = !attribute.isTransient && attribute.derivationExpression == nil
    if isStored, attribute.type.isNumeric, attribute.isOptional, attribute.defaultValue.isNull {
      result.append("is an optional number without a default: NULL is not 0 in a store, so give it a default")
    }
    if attribute.allowsExternalBinaryDataStorage, attribute.type != .binaryData, attribute.type != .transformable {
      result.append("allows external storage, which only binary data uses")
    }
    if attribute.valueTransformerName != nil, attribute.type != .transformable, attribute.type != .binaryData {
      result.append("names a value transformer, which only transformable attributes use")
    }
    if attribute.type == .composite, attribute.elements.isEmpty { result.append("is a composite without elements") }
    if isStored {
      result += attribute.unkeptElements.map { "has the element \($0.path.joined(separator: ".")), \($0.reason)" }
    }
    if attribute.type == .composite && attribute.preservesValueInHistoryOnDeletion
      || attribute.leaves.contains(where: \.attribute.preservesValueInHistoryOnDeletion)
    {
      result.append(
        "is a composite, of whose values no history keeps any: give what it is to keep an attribute of its own")
    }
    let defaults = attribute.leaves.filter { !$0.attribute.defaultValue.isNull }.map { $0.path.joined(separator: ".") }
    if !defaults.isEmpty {
      result.append(
        "has a default for its element \(defaults.listed()), which is never used: give the whole attribute a default")
    }
    if let name = attribute.valueTransformerName, attribute.type == .transformable, !AppleNames.isTransformer(name) {
      result.append("names the transformer \(name)\(absence)")
    }
    if let name = attribute.valueClassName, !AppleNames.isValueClass(name) {
      result.append("names the value class \(name)\(absence)")
    }
    if isOutOfBounds(attribute) { result.append("has a default value that its own rules refuse") }
    return result
  }

  /// What a class or transformer that the model names and does not hold means.
  private var absence: String {
    model.description.allowsUnknownClasses
      ? ": until an extension provides it, the value is bytes that cannot be assigned"
      : ", which an extension has to provide to open a store"
  }

  private func isOutOfBounds(_ attribute: AttributeDescription) -> Bool {
    let (value, validation) = (attribute.defaultValue, attribute.validation)
    if value.isNull { return false }
    if let least = validation.minimum, Value.compare(value, least) == .ascending { return true }
    if let greatest = validation.maximum, Value.compare(value, greatest) == .descending { return true }
    if let allowed = validation.allowedValues, !allowed.contains(value) { return true }
    guard case .string(let string) = value else { return false }
    return string.count < validation.minimumLength ?? 0 || string.count > validation.maximumLength ?? .max
  }

  private func warnings(of relationship: RelationshipDescription) -> [String] {
    var result: [String] = []
    if relationship.inverseName == nil {
      result.append("has no inverse: the other side will not be kept in step")
    }
    if relationship.isOrdered, !relationship.isToMany {
      result.append("is ordered, which a to-one relationship cannot be")
    }
    if relationship.deleteRule == .noAction, relationship.inverseName != nil {
      result.append("takes no action on deletion: the other side keeps pointing at what is gone")
    }
    return result
  }
}
