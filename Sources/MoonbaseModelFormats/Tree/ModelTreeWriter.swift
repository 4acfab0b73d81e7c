import MoonbaseModel

/// Writes the Lua form of a model as a tree, the inverse of `ModelTreeReader`.
struct ModelTreeWriter {
  static func write(_ model: ManagedObjectModel) throws(ModelError) -> ModelTree {
    var table = TreeBuilder()
    switch model.versionIdentifiers.count {
    case 0: break
    case 1: table.add("version", .value(.string(model.versionIdentifiers[0])))
    default: table.add("version", strings(model.versionIdentifiers))
    }
    var entities: [ModelTree.Entry] = []
    for entity in model.entities { entities.append(.init(entity.name, try tree(entity))) }
    table.add("entities", .table([], entities))
    var requests: [ModelTree.Entry] = []
    for (name, request) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
      requests.append(.init(name, fetch(request).tree))
    }
    table.add(entries: "fetch_requests", requests)
    let configurations = model.configurations.sorted { $0.key < $1.key }
    table.add(entries: "configurations", configurations.map { .init($0.key, strings($0.value)) })
    return table.tree
  }

  // MARK: Entities

  static func tree(_ entity: EntityDescription) throws(ModelError) -> ModelTree {
    var table = TreeBuilder()
    table.add("parent", entity.superentityName)
    table.add("class", entity.managedObjectClassName)
    table.add("abstract", true, if: entity.isAbstract)
    table.add("renamed_from", entity.renamingIdentifier)
    table.add("version_hash_modifier", entity.versionHashModifier)
    table.add("code_generation", entity.codeGenerationType)
    table.add("spotlight_name", entity.coreSpotlightDisplayNameExpression)
    var attributes: [ModelTree.Entry] = []
    for attribute in entity.attributes { attributes.append(.init(attribute.name, try tree(attribute))) }
    table.add(entries: "attributes", attributes)
    var relationships: [ModelTree.Entry] = []
    for relationship in entity.relationships {
      relationships.append(.init(relationship.name, try tree(relationship)))
    }
    table.add(entries: "relationships", relationships)
    var fetched: [ModelTree.Entry] = []
    for property in entity.fetchedProperties { fetched.append(.init(property.name, try tree(property))) }
    table.add(entries: "fetched_properties", fetched)
    table.add(
      "constraints", .table(entity.uniquenessConstraints.map(strings)), if: !entity.uniquenessConstraints.isEmpty)
    table.add(entries: "indexes", entity.indexes.map { .init($0.name, tree($0)) })
    try table.add(userInfo: entity.userInfo)
    return table.tree
  }

  static func tree(_ attribute: AttributeDescription) throws(ModelError) -> ModelTree {
    let validation = attribute.validation
    var table = TreeBuilder([.value(.string(attribute.type.modelName))])
    table.add("optional", false, if: !attribute.isOptional)
    table.add("transient", true, if: attribute.isTransient)
    try table.add("default", value: attribute.defaultValue, of: attribute)
    try table.add("min", value: validation.minimum ?? .null, of: attribute)
    try table.add("max", value: validation.maximum ?? .null, of: attribute)
    table.add("min_length", validation.minimumLength)
    table.add("max_length", validation.maximumLength)
    table.add("matches", validation.regularExpression)
    if let allowed = validation.allowedValues {
      var list: [ModelTree] = []
      for value in allowed { list.append(try TreeBuilder.scalar(value, of: attribute)) }
      table.add("one_of", .table(list))
    }
    let rules = validation.predicates.map { rule -> ModelTree in
      [.value(.string("\(rule.predicate)")), .value(.string(rule.message))]
    }
    table.add("rules", .table(rules), if: !rules.isEmpty)
    table.add("transformer", attribute.valueTransformerName)
    table.add("class", attribute.valueClassName)
    table.add("external_storage", true, if: attribute.allowsExternalBinaryDataStorage)
    table.add("keep_in_history", true, if: attribute.preservesValueInHistoryOnDeletion)
    table.add("cloud_encryption", true, if: attribute.allowsCloudEncryption)
    table.add("spotlight", true, if: attribute.isIndexedBySpotlight)
    table.add("scalar", true, if: attribute.usesScalarValueType)
    table.add("indexed", true, if: attribute.isIndexed)
    table.add("derivation", attribute.derivationExpression)
    var elements: [ModelTree.Entry] = []
    for element in attribute.elements { elements.append(.init(element.name, try tree(element))) }
    table.add(entries: "elements", elements)
    table.add("renamed_from", attribute.renamingIdentifier)
    table.add("version_hash_modifier", attribute.versionHashModifier)
    try table.add(userInfo: attribute.userInfo)
    return table.shortTree
  }

  static func tree(_ relationship: RelationshipDescription) throws(ModelError) -> ModelTree {
    var table = TreeBuilder()
    table.add(relationship.isToMany ? "to_many" : "to", relationship.destinationEntityName)
    table.add("inverse", relationship.inverseName)
    table.add("delete", .value(.string(relationship.deleteRule.modelName)), if: relationship.deleteRule != .nullify)
    table.add("optional", false, if: !relationship.isOptional)
    table.add("transient", true, if: relationship.isTransient)
    table.add("ordered", true, if: relationship.isOrdered)
    table.add("min", relationship.minCount == 0 ? nil : relationship.minCount)
    table.add("max", relationship.maxCount == 0 || !relationship.isToMany ? nil : relationship.maxCount)
    table.add("spotlight", true, if: relationship.isIndexedBySpotlight)
    table.add("renamed_from", relationship.renamingIdentifier)
    table.add("version_hash_modifier", relationship.versionHashModifier)
    try table.add(userInfo: relationship.userInfo)
    return table.tree
  }

  // MARK: Fetches and indexes

  static func tree(_ property: FetchedPropertyDescription) throws(ModelError) -> ModelTree {
    var table = fetch(property.fetchRequest)
    table.add("optional", false, if: !property.isOptional)
    table.add("renamed_from", property.renamingIdentifier)
    try table.add(userInfo: property.userInfo)
    return table.tree
  }

  static func fetch(_ request: FetchRequest) -> TreeBuilder {
    var list: [ModelTree] = [.value(.string(request.entityName))]
    if let predicate = request.predicate { list.append(.value(.string("\(predicate)"))) }
    var table = TreeBuilder(list)
    table.add("sort", .table(request.sortDescriptors.map(tree)), if: !request.sortDescriptors.isEmpty)
    table.add("limit", request.fetchLimit == 0 ? nil : request.fetchLimit)
    table.add("offset", request.fetchOffset == 0 ? nil : request.fetchOffset)
    table.add("batch", request.fetchBatchSize == 0 ? nil : request.fetchBatchSize)
    table.add("subentities", false, if: !request.includesSubentities)
    table.add("pending_changes", false, if: !request.includesPendingChanges)
    table.add("property_values", false, if: !request.includesPropertyValues)
    table.add("faults", false, if: !request.returnsObjectsAsFaults)
    let prefetch = request.relationshipKeyPathsForPrefetching
    table.add("prefetch", strings(prefetch), if: !prefetch.isEmpty)
    table.add("refresh", true, if: request.shouldRefreshRefetchedObjects)
    table.add("result", .value(.string(request.resultType.modelName)), if: request.resultType != .objects)
    let columns = request.propertiesToFetch
    table.add("columns", .table(columns.map(tree)), if: !columns.isEmpty)
    table.add("group_by", strings(request.propertiesToGroupBy), if: !request.propertiesToGroupBy.isEmpty)
    table.add("having", request.havingPredicate.map { "\($0)" })
    table.add("distinct", true, if: request.returnsDistinctResults)
    return table
  }

  private static func tree(_ column: FetchColumn) -> ModelTree {
    if column == FetchColumn(column.name) { return .value(.string(column.name)) }
    var table = TreeBuilder([.value(.string(column.name)), .value(.string("\(column.expression)"))])
    table.add("type", column.resultType?.modelName)
    return table.tree
  }

  static func tree(_ descriptor: SortDescriptor) -> ModelTree {
    let key = ModelTree.value(.string((descriptor.ascending ? "" : "-") + descriptor.keyPath))
    if descriptor.comparator == .compare { return key }
    return .table([key], [.init("compare", .value(.string(descriptor.comparator.rawValue)))])
  }

  static func tree(_ index: FetchIndexDescription) -> ModelTree {
    var table = TreeBuilder(index.elements.map(tree))
    table.add("where", index.partialIndexPredicate)
    return table.tree
  }

  static func tree(_ element: FetchIndexDescription.Element) -> ModelTree {
    let sign = element.isAscending || element.isExpression ? "" : "-"
    var table = TreeBuilder([.value(.string(sign + element.property))])
    table.add("kind", "rtree", if: element.kind == .rTree)
    table.add("expression", true, if: element.isExpression)
    table.add("descending", true, if: element.isExpression && !element.isAscending)
    table.add("expression_type", element.expressionType)
    return table.shortTree
  }

  private static func strings(_ list: [String]) -> ModelTree { .table(list.map { .value(.string($0)) }) }
}
