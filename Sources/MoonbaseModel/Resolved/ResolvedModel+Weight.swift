/// The estimated memory of a model, charged to the script that opened it.
extension ResolvedModel {
  /// The bytes of the declared and the resolved model.
  package var weight: Int { entities.reduce(4096 + description.weight) { $0 + $1.weight } }
}

extension ResolvedEntity {
  /// The bytes of the resolved entity.
  fileprivate var weight: Int {
    Self.weight(propertyCount: properties.count, fetchedPropertyCount: fetchedProperties.count)
  }

  /// The bytes of an entity before it is resolved, including its names.
  static func weight(of description: EntityDescription, parent: ResolvedEntity?) -> Int {
    let propertyCount = description.attributes.count + description.relationships.count + (parent?.properties.count ?? 0)
    let fetchedCount = description.fetchedProperties.count + (parent?.fetchedProperties.count ?? 0)
    let ofNames = 16 * (propertyCount + fetchedCount)
    return weight(propertyCount: propertyCount, fetchedPropertyCount: fetchedCount) + ofNames
  }

  /// The lookup tables by name cost as much as the properties themselves.
  private static func weight(propertyCount: Int, fetchedPropertyCount: Int) -> Int {
    let ofProperties = propertyCount * (MemoryLayout<ResolvedProperty>.stride + 128)
    return 1024 + ofProperties + fetchedPropertyCount * (MemoryLayout<FetchedPropertyDescription>.stride + 64)
  }
}

extension ManagedObjectModel {
  /// The bytes of the declared model.
  fileprivate var weight: Int {
    var total = warnings.weight
    for entity in entities { total += entity.weight }
    for (name, request) in fetchRequestTemplates { total += 64 + name.weight + request.weight }
    for (name, members) in configurations { total += 64 + name.weight + members.weight }
    return total
  }
}

extension EntityDescription {
  /// The bytes of the declared entity with its properties.
  fileprivate var weight: Int {
    var total = MemoryLayout<Self>.stride * 2 + name.weight + userInfo.weight
    for attribute in attributes { total += attribute.weight }
    for relationship in relationships { total += relationship.weight }
    for property in fetchedProperties { total += property.weight }
    for constraint in uniquenessConstraints { total += constraint.weight }
    for index in indexes { total += index.weight }
    return total
  }
}

extension FetchedPropertyDescription {
  /// The bytes of the fetched property.
  fileprivate var weight: Int {
    MemoryLayout<Self>.stride + name.weight + fetchRequest.weight + userInfo.weight
  }
}

extension FetchIndexDescription {
  /// The bytes of the index.
  fileprivate var weight: Int {
    elements.reduce(256 + name.weight + (partialIndexPredicate?.weight ?? 0)) { $0 + 96 + $1.property.weight }
  }
}

extension AttributeDescription {
  /// The bytes of the attribute with its values and elements.
  fileprivate var weight: Int {
    var total = MemoryLayout<Self>.stride + name.weight + defaultValue.weight + validation.weight + userInfo.weight
    total += derivationExpression?.weight ?? 0
    // Recursion is safe, because deeper composites are refused.
    for element in elements { total += element.weight }
    return total
  }
}

extension AttributeValidation {
  /// The bytes of the rules.
  fileprivate var weight: Int {
    var total = regularExpression?.weight ?? 0
    for value in allowedValues ?? [] { total += 24 + value.weight }
    for rule in predicates { total += 32 + rule.predicate.weight + rule.message.weight }
    return total
  }
}

extension RelationshipDescription {
  /// The bytes of the relationship.
  fileprivate var weight: Int {
    MemoryLayout<Self>.stride + name.weight + destinationEntityName.weight + userInfo.weight
  }
}
