import MoonbasePlatform

/// Finds questionable parts of a model that are not errors.
///
/// The warnings appear in `ResolvedModel` and in `moonbase model check`. Each begins with its place
/// in the file, if the place is known.
///
/// For example, `people.lua:7: Person.boss has no inverse: the other side will not be kept in
/// step`.
struct ModelWarnings {
  /// The resolved model.
  let model: ResolvedModel

  /// The warnings, in the order of the entities.
  func find() -> [String] {
    let entities = model.description.entities
    if entities.isEmpty { return ["the model has no entity"] }
    return entities.flatMap { warnings(of: $0) + warningsOfDerivations(in: $0) + warningsOfIndexes(in: $0) }
  }

  /// Warns of derived attributes that no store keeps up to date.
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

  /// Warns of indexes that no store creates.
  private func warningsOfIndexes(in entity: EntityDescription) -> [String] {
    guard let resolved = model.entity(entity.name) else { return [] }
    return resolved.unstoredIndexes.map { index, reason in
      let place = index.location.map { "\($0): " } ?? ""
      return "\(place)entity \(entity.name): its index \(index.name) is made in no store here: \(reason)"
    }
  }

  /// The warnings about an entity's properties.
  private func warnings(of entity: EntityDescription) -> [String] {
    let attributes = entity.attributes.flatMap { attribute in
      warnings(of: attribute).map { text(entity, name: attribute.name, at: attribute.location, what: $0) }
    }
    let relationships = entity.relationships.flatMap { relationship in
      warnings(of: relationship, in: entity).map {
        text(entity, name: relationship.name, at: relationship.location, what: $0)
      }
    }
    return warningsOfNames(in: entity) + attributes + relationships
  }

  /// Warns of property names that a new model may not use.
  private func warningsOfNames(in entity: EntityDescription) -> [String] {
    entity.propertyNames.filter { RefusedPropertyNames.names.contains($0.name) }.map { name, location in
      text(
        entity, name: name, at: location,
        what:
          "has the name of a method of every object, which a new model may not use: a script reads the property by it, and "
          + "calls a method that it hides as moonbase.object.NAME(object)")
    }
  }

  /// A warning with the place and the names of entity and property.
  private func text(_ entity: EntityDescription, name: String, at location: SourceLocation?, what: String) -> String {
    "\(location.map { "\($0): " } ?? "")\(entity.name).\(name) \(what)"
  }

  /// The warnings about an attribute's settings that contradict each other or have no effect.
  private func warnings(of attribute: AttributeDescription) -> [String] {
    var result: [String] = []
    let isStored = !attribute.isTransient && attribute.derivationExpression == nil
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
    if model.description.allowsUnknownClasses, let obstacle = obstacle(to: attribute) { result.append(obstacle) }
    return result
  }

  /// The consequence of a class or transformer that the model names and no extension provides.
  private var absence: String {
    model.description.allowsUnknownClasses
      ? ": until an extension provides it, the value is bytes that cannot be assigned"
      : ", which an extension has to provide to open a store"
  }

  /// The reason why no value satisfies an attribute's rules. Only models from files have unsatisfiable rules: Core Data
  /// accepts them.
  private func obstacle(to attribute: AttributeDescription) -> String? {
    let validation = attribute.validation
    if let least = validation.minimum, let greatest = validation.maximum, Value.compare(greatest, least) == .ascending {
      return "has a minimum above its maximum: it takes no value"
    }
    if let least = validation.minimumLength, let greatest = validation.maximumLength, least > greatest {
      return "has a minimum length above its maximum length: it takes no value"
    }
    guard let pattern = validation.regularExpression, attribute.type == .string,
      TextLimits.mistake(ofPattern: pattern) != nil || (try? NSRegularExpression(pattern: pattern)) == nil
    else { return nil }
    return "has a pattern that is no regular expression, so that it takes no value: \(pattern)"
  }

  /// Whether an attribute's default violates its own rules.
  private func isOutOfBounds(_ attribute: AttributeDescription) -> Bool {
    let (value, validation) = (attribute.defaultValue, attribute.validation)
    if value.isNull { return false }
    if let least = validation.minimum, Value.compare(value, least) == .ascending { return true }
    if let greatest = validation.maximum, Value.compare(value, greatest) == .descending { return true }
    if let allowed = validation.allowedValues, !allowed.contains(value) { return true }
    guard case .string(let string) = value else { return false }
    return string.count < validation.minimumLength ?? 0 || string.count > validation.maximumLength ?? .max
  }

  /// The warnings about a relationship: a missing or one-sided inverse, and counts without effect.
  private func warnings(of relationship: RelationshipDescription, in entity: EntityDescription) -> [String] {
    var result: [String] = []
    if relationship.inverseName == nil {
      result.append("has no inverse: the other side will not be kept in step")
    } else if let name = relationship.inverseName, !hasInverse(relationship, in: entity) {
      result.append("has the inverse \(name), which does not lead back to it: the two sides will not be kept in step")
    }
    let mayBeEmpty = relationship.isToMany && !relationship.requiresDestination
    if mayBeEmpty, !relationship.isOptional, !model.description.allowsUnknownClasses {
      result.append("is not optional, which allows an empty to-many relationship: say min = 1 if it must not be empty")
    }
    if relationship.isOrdered, !relationship.isToMany {
      result.append("is ordered, which a to-one relationship cannot be")
    }
    if relationship.deleteRule == .noAction, relationship.inverseName != nil {
      result.append("takes no action on deletion: the other side keeps pointing at what is gone")
    }
    return result
  }

  /// Whether the inverse of a relationship resolves.
  private func hasInverse(_ relationship: RelationshipDescription, in entity: EntityDescription) -> Bool {
    model.entity(entity.name)?.property(relationship.name)?.relationship?.inverseSlot != nil
  }
}
