import MoonbaseModel

extension ArchivedModelWriter {
  /// The traits of a property that Core Data also combines into a number.
  ///
  /// Core Data archives the number under `_P`, and some traits under keys of their own as well.
  struct Traits: OptionSet {
    /// The bits of the number.
    let rawValue: Int64
    /// A bit that each property has.
    static let always = Self(rawValue: 1)
    /// A property that may be missing.
    static let optional = Self(rawValue: 2)
    /// A property that cannot be assigned, as a derived attribute.
    static let readOnly = Self(rawValue: 4)
    /// A property that is not stored.
    static let transient = Self(rawValue: 8)
    /// No validation predicates and no warnings.
    static let noValidation = Self(rawValue: 0x30)
    /// No user info.
    static let noUserInfo = Self(rawValue: 0x40)
    /// No version hash modifier.
    static let noHashModifier = Self(rawValue: 0x80)
    /// Indexed by Spotlight.
    static let indexedBySpotlight = Self(rawValue: 0x100)
    /// An ordered relationship.
    static let ordered = Self(rawValue: 0x400)

    /// The corresponding separate keys.
    static let keys: KeyValuePairs<String, Self> = [
      "NSIsOptional": .optional, "NSIsReadOnly": .readOnly, "NSIsTransient": .transient,
      "NSIndexedBySpotlight": .indexedBySpotlight, "NSIsOrdered": .ordered,
    ]
  }

  /// Archives an attribute or a relationship into its reserved reference.
  mutating func write(_ property: ResolvedProperty, of entity: ResolvedEntity) throws(ModelError) {
    switch property.kind {
    case .attribute(let attribute):
      try write(attribute, of: entity.index, to: reference(property.name, of: entity.index))
    case .toOne(let relationship), .toMany(let relationship): try write(relationship, of: entity.index)
    }
  }

  /// The fields shared by all kinds of properties.
  ///
  /// The result has the name, the entity, the renaming identifier, the aspects, the user info and
  /// the traits. Throws `.unsupportedForm` for user info that cannot be archived.
  mutating func common<Property: NamedDescription>(_ property: Property, of entity: EntityIndex, traits: Traits)
    throws(ModelError) -> [String: PropertyList]
  {
    var fields: [String: PropertyList] = [
      "NSPropertyName": archive.string(property.name), "NSEntity": entityReferences[entity],
      "NSRenamingIdentifier": archive.string(property.renamingIdentifier ?? property.name),
    ]
    add(property, to: &fields)
    if !property.userInfo.isEmpty {
      fields["NSUserInfo"] = try archive.userInfo(property.userInfo, of: property.name)
    }
    var traits = traits.union([.always])
    if property.userInfo.isEmpty { traits.insert(.noUserInfo) }
    if fields["NSVersionHashModifier"] == nil { traits.insert(.noHashModifier) }
    for (key, trait) in Traits.keys {
      if traits.contains(trait) { fields[key] = true }
      if fields[key] == true { traits.insert(trait) }
    }
    fields["_P"] = .integer(traits.rawValue)
    return fields
  }

  // MARK: Attributes

  /// Archives an attribute, and the elements of a composite.
  ///
  /// Throws `.unsupportedForm` for a default value or a predicate that no archive can hold.
  private mutating func write(_ attribute: AttributeDescription, of entity: EntityIndex, to reference: PropertyList)
    throws(ModelError)
  {
    var traits: Traits = attribute.derivationExpression == nil ? [] : .readOnly
    if attribute.validation.isEmpty { traits.insert(.noValidation) }
    var fields = try common(attribute, of: entity, traits: traits)
    fields["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
    let valueClass = attribute.valueClassName ?? attribute.type.foundationClassName
    fields["NSAttributeValueClassName"] = archive.string(valueClass)
    if isComplete, let name = attribute.valueClassName, attribute.type.isUsual(valueClass: name) {
      fields[SupplementKeys.valueClass] = archive.string(name)
    }
    guard let defaultValue = archive.value(attribute.defaultValue) else {
      throw ModelError(
        .unsupportedForm,
        message: "\(attribute.name): \(attribute.defaultValue.typePhrase) as default cannot be archived",
        property: attribute.name)
    }
    fields["NSDefaultValue"] = defaultValue
    try addValidation(of: attribute, to: &fields)
    var className = "NSAttributeDescription"
    if let text = attribute.derivationExpression {
      className = "NSDerivedAttributeDescription"
      // A text of another form is no expression that Core Data could evaluate either, so it is kept as text.
      let expression = DerivationText.expression(text) ?? .constant(.string(text))
      if isComplete, DerivationText.text(expression) != text {
        fields[SupplementKeys.derivation] = archive.string(text)
      }
      fields["NSDerivationExpression"] = try archive.expression(expression)
      fields["NSFilteringPredicate"] = KeyedArchiveWriter.null
    }
    if attribute.type == .composite {
      className = "NSCompositeAttributeDescription"
      var elements: [PropertyList] = []
      for element in attribute.elements {
        elements.append(archive.reserve())
        try write(element, of: entity, to: elements[elements.count - 1])
      }
      fields["NSElements"] = archive.array(elements)
    }
    archive.fill(reference, className: className, fields: fields)
  }

  /// Adds the rules as two parallel arrays: predicates, and codes or messages.
  private mutating func addValidation(of attribute: AttributeDescription, to fields: inout [String: PropertyList])
    throws(ModelError)
  {
    let rules = attribute.archivedRules
    if rules.isEmpty { return }
    var predicates: [PropertyList] = []
    for rule in rules { predicates.append(try archive.predicate(rule.predicate)) }
    fields["NSValidationPredicates"] = archive.array(predicates)
    fields["NSValidationWarnings"] = archive.array(rules.map { archive.scalar($0.warning) })
  }

  // MARK: Relationships

  /// Archives a relationship, with references to its destination entity and its inverse.
  private mutating func write(_ relationship: ResolvedRelationship, of entity: EntityIndex) throws(ModelError) {
    let description = relationship.description
    var fields = try common(description, of: entity, traits: .noValidation)
    fields["NSDestinationEntity"] = entityReferences[relationship.destination]
    fields["_NSDestinationEntityName"] = archive.string(description.destinationEntityName)
    if let inverse = description.inverseName {
      fields["_NSInverseRelationshipName"] = archive.string(inverse)
      fields["NSInverseRelationship"] = reference(inverse, of: relationship.destination)
    }
    fields["NSDeleteRule"] = .integer(Int64(description.deleteRule.rawValue))
    fields["NSMaxCount"] = .integer(Int64(description.maxCount))
    archive.fill(reference(description.name, of: entity), className: "NSRelationshipDescription", fields: fields)
  }
}
