extension ArchivedModelReader {
  private static let externalStorageFlag = 4
  private static let historyFlag = 16

  // MARK: Attributes

  mutating func attribute(_ object: ArchivedObject, _ name: String, subject: String) throws(ModelError)
    -> AttributeDescription
  {
    guard let type = AttributeType(rawValue: object.integer("NSAttributeType") ?? 0) else {
      throw ModelError(
        .malformedFile, "\(subject) has the unknown type \(object.integer("NSAttributeType") ?? 0)", property: name)
    }
    var attribute = AttributeDescription(name, type)
    let flags = object.integer("NSFlagsKey") ?? 0
    attribute.isOptional = object.bool("NSIsOptional")
    attribute.isTransient = object.bool("NSIsTransient")
    attribute.isIndexed = object.bool("NSIsIndexed")
    attribute.isIndexedBySpotlight = object.bool("NSIndexedBySpotlight")
    attribute.allowsExternalBinaryDataStorage = flags & Self.externalStorageFlag != 0
    attribute.preservesValueInHistoryOnDeletion = flags & Self.historyFlag != 0
    let unknown = flags & ~(Self.externalStorageFlag | Self.historyFlag)
    if unknown != 0 { warnings.append("\(subject): storage flags \(unknown) are not understood") }
    attribute.valueClassName = object.string("NSAttributeValueClassName").flatMap {
      $0 == type.foundationClassName || $0 == "NSObject" ? nil : $0
    }
    attribute.valueTransformerName = object.string("NSValueTransformerName")
    attribute.renamingIdentifier = other(object.string("NSRenamingIdentifier"), than: name)
    attribute.versionHashModifier = object.string("NSVersionHashModifier")
    attribute.userInfo = userInfo(object)
    attribute.derivationExpression = try derivation(object, subject: subject)
    for element in object.elements("NSElements") ?? [] {
      guard let element = element.object, let name = element.string("NSPropertyName") else { continue }
      attribute.elements.append(try self.attribute(element, name, subject: "\(subject).\(name)"))
    }
    readDefault(object, into: &attribute, subject: subject)
    try readValidation(object, into: &attribute, subject: subject)
    return attribute
  }

  private func derivation(_ object: ArchivedObject, subject: String) throws(ModelError) -> String? {
    guard let expression = object["NSDerivationExpression"]?.object else { return nil }
    do { return DerivationText.text(try ArchivedPredicateReader().expression(expression)) } catch {
      throw ModelError(error.code, "\(subject): its derivation: \(error.message)")
    }
  }

  /// A default that cannot be read is told, not refused: the model is good for all objects that exist.
  private mutating func readDefault(
    _ object: ArchivedObject, into attribute: inout AttributeDescription, subject: String
  ) {
    guard let archived = object["NSDefaultValue"] else { return }
    let value = archived.modelValue.map { normalized($0, for: attribute.type) }
    if let value, let checked = try? attribute.checked(value) {
      attribute.defaultValue = checked
    } else {
      let what = archived.object?.className ?? value?.typeDescription ?? "value"
      warnings.append("\(subject): its default value, a \(what), cannot be read here and is left out")
    }
  }

  /// In an archive a number is a number, whatever the attribute's type.
  func normalized(_ value: Value, for type: AttributeType) -> Value {
    switch (type, value) {
    case (.boolean, .int(let integer)): .bool(integer != 0)
    case (.integer16, .bool(let bool)), (.integer32, .bool(let bool)), (.integer64, .bool(let bool)):
      .int(bool ? 1 : 0)
    case (.double, .int(let integer)), (.float, .int(let integer)): .double(Double(integer))
    default: value
    }
  }

  // MARK: Relationships

  func relationship(_ object: ArchivedObject, _ name: String, subject: String) throws(ModelError)
    -> RelationshipDescription
  {
    let entity = object["NSDestinationEntity"]?.object
    guard let destination = object.string("_NSDestinationEntityName") ?? entity?.string("NSEntityName") else {
      throw ModelError(.malformedFile, "\(subject) has no destination", property: name)
    }
    let inverse =
      object.string("_NSInverseRelationshipName")
      ?? object["NSInverseRelationship"]?.object?.string("NSPropertyName")
    var relationship = RelationshipDescription.toMany(name, destination, inverse: inverse)
    relationship.maxCount = object.integer("NSMaxCount") ?? 0
    relationship.minCount = object.integer("NSMinCount") ?? 0
    relationship.isOptional = object.bool("NSIsOptional")
    relationship.isTransient = object.bool("NSIsTransient")
    relationship.isOrdered = object.bool("NSIsOrdered")
    relationship.isIndexedBySpotlight = object.bool("NSIndexedBySpotlight")
    relationship.deleteRule = DeleteRule(rawValue: object.integer("NSDeleteRule") ?? 1) ?? .nullify
    relationship.renamingIdentifier = other(object.string("NSRenamingIdentifier"), than: name)
    relationship.versionHashModifier = object.string("NSVersionHashModifier")
    relationship.userInfo = userInfo(object)
    return relationship
  }

  // MARK: Fetches

  mutating func fetchedProperty(_ object: ArchivedObject, _ name: String, subject: String) throws(ModelError)
    -> FetchedPropertyDescription
  {
    guard let request = object["NSFetchRequest"]?.object else {
      throw ModelError(.malformedFile, "\(subject) has no fetch request", property: name)
    }
    var property = FetchedPropertyDescription(name, try fetchRequest(request, subject: subject))
    property.isOptional = object.bool("NSIsOptional")
    property.renamingIdentifier = other(object.string("NSRenamingIdentifier"), than: name)
    property.userInfo = userInfo(object)
    return property
  }

  mutating func fetchRequest(_ object: ArchivedObject, subject: String) throws(ModelError) -> FetchRequest {
    guard let entity = object["NSEntity"]?.object?.string("NSEntityName") ?? object.string("NSEntityName") else {
      throw ModelError(.malformedFile, "\(subject): its fetch request names no entity")
    }
    report(object, subject)
    var request = FetchRequest(entity)
    if let predicate = object["NSPredicate"]?.object {
      do { request.predicate = try ArchivedPredicateReader().predicate(predicate) } catch {
        throw ModelError(error.code, "\(subject): its predicate: \(error.message)")
      }
    }
    request.sortDescriptors = (object.elements("NSSortDescriptors") ?? []).compactMap(\.object).compactMap(
      sortDescriptor)
    request.fetchLimit = max(0, object.integer("NSFetchLimit") ?? 0)
    request.fetchOffset = max(0, object.integer("NSFetchOffset") ?? 0)
    request.fetchBatchSize = max(0, object.integer("NSBatchSize") ?? 0)
    let prefetch = object.elements("NSRelationshipKeyPathsForPrefetching") ?? []
    request.relationshipKeyPathsForPrefetching = prefetch.compactMap(\.string)
    request.resultType = FetchRequest.ResultType(rawValue: object.integer("NSResultType") ?? 0) ?? .objects
    request.propertiesToFetch = (object.elements("NSValuesToFetch") ?? []).compactMap(\.propertyName).map { .init($0) }
    request.propertiesToGroupBy = (object.elements("NSValuesToGroupBy") ?? []).compactMap(\.propertyName)
    if let having = object["NSHavingPredicate"]?.object {
      request.havingPredicate = try ArchivedPredicateReader().predicate(having)
    }
    if let flags = object.integer("NSFetchRequestFlags"), flags != ArchivedFetchRequest.defaultFlags {
      warnings.append("\(subject): the flags \(flags) of its fetch request are not understood")
    }
    return request
  }

  private func sortDescriptor(_ object: ArchivedObject) -> SortDescriptor? {
    guard let key = object.string("NSKey") else { return nil }
    var descriptor = SortDescriptor(key, ascending: object.bool("NSAscending"))
    let selector = object.string("NSSelector").map { $0.hasSuffix(":") ? String($0.dropLast()) : $0 }
    descriptor.comparator = selector.flatMap(SortDescriptor.Comparator.init(rawValue:)) ?? .compare
    return descriptor
  }
}

/// What archived fetch requests have in common.
enum ArchivedFetchRequest {
  /// The flags of a request that was not changed. What each bit means is not known.
  static let defaultFlags = 30
}
