extension ArchivedModelWriter {
  /// What Core Data sums up in one number beside each property.
  private struct Traits: OptionSet {
    let rawValue: Int64
    static let always = Self(rawValue: 1)
    static let optional = Self(rawValue: 2)
    static let readOnly = Self(rawValue: 4)
    static let transient = Self(rawValue: 8)
    static let noValidation = Self(rawValue: 0x30)
    static let noUserInfo = Self(rawValue: 0x40)
    static let noHashModifier = Self(rawValue: 0x80)
    static let indexedBySpotlight = Self(rawValue: 0x100)
    static let ordered = Self(rawValue: 0x400)
  }

  mutating func write(_ property: ResolvedProperty, of entity: ResolvedEntity) throws(ModelError) {
    switch property.kind {
    case .attribute(let attribute):
      try write(attribute, of: entity.index, to: reference(property.name, of: entity.index))
    case .toOne(let relationship), .toMany(let relationship): write(relationship, of: entity.index)
    }
  }

  /// What all kinds of property have in common.
  private mutating func common(
    _ name: String, _ entity: Int, _ traits: Traits, renamed: String?, modifier: String?, userInfo: [String: Value]
  ) -> [String: PropertyList] {
    var traits = traits.union([.always])
    if userInfo.isEmpty { traits.insert(.noUserInfo) }
    if modifier == nil { traits.insert(.noHashModifier) }
    var fields: [String: PropertyList] = [
      "NSPropertyName": archive.string(name), "NSEntity": entityReferences[entity],
      "NSRenamingIdentifier": archive.string(renamed ?? name), "_P": .integer(traits.rawValue),
    ]
    if traits.contains(.optional) { fields["NSIsOptional"] = true }
    if traits.contains(.transient) { fields["NSIsTransient"] = true }
    if traits.contains(.readOnly) { fields["NSIsReadOnly"] = true }
    if traits.contains(.ordered) { fields["NSIsOrdered"] = true }
    if traits.contains(.indexedBySpotlight) { fields["NSIndexedBySpotlight"] = true }
    if let modifier { fields["NSVersionHashModifier"] = archive.string(modifier) }
    if !userInfo.isEmpty { fields["NSUserInfo"] = archive.dictionary(userInfo.sorted { $0.key < $1.key }) }
    return fields
  }

  // MARK: Attributes

  private mutating func write(_ attribute: AttributeDescription, of entity: Int, to reference: PropertyList)
    throws(ModelError)
  {
    var traits: Traits = attribute.isOptional ? [.optional] : []
    if attribute.isTransient { traits.insert(.transient) }
    if attribute.isIndexedBySpotlight { traits.insert(.indexedBySpotlight) }
    if attribute.derivationExpression != nil { traits.insert(.readOnly) }
    if attribute.validation.isEmpty { traits.insert(.noValidation) }
    var fields = common(
      attribute.name, entity, traits, renamed: attribute.renamingIdentifier, modifier: attribute.versionHashModifier,
      userInfo: attribute.userInfo)
    fields["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
    fields["NSAttributeValueClassName"] = archive.string(attribute.valueClassName ?? attribute.type.foundationClassName)
    fields["NSValueTransformerName"] = archive.string(attribute.valueTransformerName)
    fields["NSDefaultValue"] = archive.value(attribute.defaultValue) ?? KeyedArchiveWriter.null
    fields["NSFlagsKey"] = .integer(
      (attribute.allowsExternalBinaryDataStorage ? 4 : 0) | (attribute.preservesValueInHistoryOnDeletion ? 16 : 0))
    if attribute.isIndexed { fields["NSIsIndexed"] = true }
    try addValidation(of: attribute, to: &fields)
    var className = "NSAttributeDescription"
    if let text = attribute.derivationExpression {
      className = "NSDerivedAttributeDescription"
      // A text of another form is kept as it stands: as one key.
      let expression = DerivationText.expression(text) ?? .keyPath(.evaluatedObject, [text])
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
    archive.fill(reference, className, fields)
  }

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

  private mutating func write(_ relationship: ResolvedRelationship, of entity: Int) {
    let description = relationship.description
    var traits: Traits = [.noValidation]
    if description.isOptional { traits.insert(.optional) }
    if description.isTransient { traits.insert(.transient) }
    if description.isOrdered { traits.insert(.ordered) }
    if description.isIndexedBySpotlight { traits.insert(.indexedBySpotlight) }
    var fields = common(
      description.name, entity, traits, renamed: description.renamingIdentifier,
      modifier: description.versionHashModifier, userInfo: description.userInfo)
    fields["NSDestinationEntity"] = entityReferences[relationship.destination]
    fields["_NSDestinationEntityName"] = archive.string(description.destinationEntityName)
    if let inverse = description.inverseName {
      fields["_NSInverseRelationshipName"] = archive.string(inverse)
      fields["NSInverseRelationship"] = reference(inverse, of: relationship.destination)
    }
    fields["NSDeleteRule"] = .integer(Int64(description.deleteRule.rawValue))
    fields["NSMaxCount"] = .integer(Int64(description.maxCount))
    fields["NSMinCount"] = .integer(Int64(description.minCount))
    archive.fill(reference(description.name, of: entity), "NSRelationshipDescription", fields)
  }

  // MARK: Fetches

  mutating func write(_ property: FetchedPropertyDescription, of entity: Int) throws(ModelError) {
    var traits: Traits = [.noValidation, .readOnly, .transient]
    if property.isOptional { traits.insert(.optional) }
    var fields = common(
      property.name, entity, traits, renamed: property.renamingIdentifier, modifier: nil, userInfo: property.userInfo)
    fields["_NSFetchRequestEntityName"] = archive.string(property.fetchRequest.entityName)
    fields["NSFetchRequest"] = try fetchRequest(property.fetchRequest)
    archive.fill(reference(property.name, of: entity), "NSFetchedPropertyDescription", fields)
  }

  mutating func fetchRequest(_ request: FetchRequest) throws(ModelError) -> PropertyList {
    let null = KeyedArchiveWriter.null
    var predicate = null
    if let condition = request.predicate { predicate = try archive.predicate(condition) }
    let sort = request.sortDescriptors.map { descriptor in
      archive.object(
        "NSSortDescriptor",
        [
          "NSKey": archive.string(descriptor.keyPath), "NSAscending": .bool(descriptor.ascending),
          "NSSelector": archive.string("\(descriptor.comparator.rawValue):"), "NSReverseNullOrder": false,
        ])
    }
    let prefetch = request.relationshipKeyPathsForPrefetching.map { archive.string($0) }
    // Columns are archived by name; how Core Data archives expressions is not known.
    let columns = request.propertiesToFetch.filter { $0 == FetchColumn($0.name) }.map { archive.string($0.name) }
    let groups = request.propertiesToGroupBy.map { archive.string($0) }
    var having = null
    if let condition = request.havingPredicate { having = try archive.predicate(condition) }
    return archive.object(
      "NSFetchRequest",
      [
        "NSEntity": model.entity(request.entityName).map { entityReferences[$0.index] } ?? null,
        "NSPredicate": predicate, "NSSortDescriptors": sort.isEmpty ? null : archive.array(sort),
        "NSHasFetchRequestFlags": true, "NSFetchRequestFlags": .integer(Int64(ArchivedFetchRequest.defaultFlags)),
        "NSFetchLimit": .integer(Int64(request.fetchLimit)), "NSFetchOffset": .integer(Int64(request.fetchOffset)),
        "NSBatchSize": .integer(Int64(request.fetchBatchSize)),
        "NSResultType": .integer(Int64(request.resultType.rawValue)), "NSAllocationType": 0,
        "NSValuesToFetch": columns.isEmpty ? null : archive.array(columns),
        "NSValuesToGroupBy": groups.isEmpty ? null : archive.array(groups), "NSHavingPredicate": having,
        "NSRelationshipKeyPathsForPrefetching": prefetch.isEmpty ? null : archive.array(prefetch),
      ])
  }
}
