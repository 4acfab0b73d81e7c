import MoonbaseModel

extension ArchivedModelWriter {
  /// Fills the reserved reference of a fetched property.
  mutating func write(_ property: FetchedPropertyDescription, of entity: EntityIndex) throws(ModelError) {
    var fields = try common(property, of: entity, traits: [.noValidation, .readOnly, .transient])
    fields["_NSFetchRequestEntityName"] = archive.string(property.fetchRequest.entityName)
    fields["NSFetchRequest"] = try fetchRequest(property.fetchRequest)
    archive.fill(reference(property.name, of: entity), className: "NSFetchedPropertyDescription", fields: fields)
  }

  /// Archives a fetch request. An entity outside of the model is archived as null, beside its name
  /// in the property.
  ///
  /// Throws `.unsupportedForm` for a predicate that no archive can hold.
  mutating func fetchRequest(_ request: FetchRequest) throws(ModelError) -> PropertyList {
    let null = KeyedArchiveWriter.null
    var predicate = null
    if let condition = request.predicate { predicate = try archive.predicate(condition) }
    let sort = request.sortDescriptors.map { descriptor in
      archive.object(
        "NSSortDescriptor",
        fields: [
          "NSKey": archive.string(descriptor.keyPath), "NSAscending": .bool(descriptor.ascending),
          "NSSelector": archive.string("\(descriptor.comparator.rawValue):"), "NSReverseNullOrder": false,
        ])
    }
    let prefetch = request.relationshipKeyPathsForPrefetching.map { archive.string($0) }
    var columns: [PropertyList] = []
    for column in request.propertiesToFetch { columns.append(try self.column(column)) }
    let groups = request.propertiesToGroupBy.map { archive.string($0) }
    var having = null
    if let condition = request.havingPredicate { having = try archive.predicate(condition) }
    var fields: [String: PropertyList] = [
      "NSEntity": model.entity(request.entityName).map { entityReferences[$0.index] } ?? null,
      "NSPredicate": predicate, "NSSortDescriptors": sort.isEmpty ? null : archive.array(sort),
      "NSHasFetchRequestFlags": true, "NSFetchRequestFlags": .integer(Int64(ArchivedFetchRequest.defaultFlags)),
      "NSResultType": .integer(Int64(request.resultType.rawValue)), "NSAllocationType": 0,
      "NSValuesToFetch": columns.isEmpty ? null : archive.array(columns),
      "NSValuesToGroupBy": groups.isEmpty ? null : archive.array(groups), "NSHavingPredicate": having,
      "NSRelationshipKeyPathsForPrefetching": prefetch.isEmpty ? null : archive.array(prefetch),
    ]
    add(request, to: &fields)
    return archive.object("NSFetchRequest", fields: fields)
  }

  /// A column: a property name, or an expression description.
  ///
  /// A column of a single key path is archived as its name.
  private mutating func column(_ column: FetchColumn) throws(ModelError) -> PropertyList {
    if column == FetchColumn(column.name) { return archive.string(column.name) }
    var fields: [String: PropertyList] = [
      "NSPropertyName": archive.string(column.name), "NSExpression": try archive.expression(column.expression),
    ]
    if let type = column.resultType { fields["NSExpressionResultType"] = .integer(Int64(type.rawValue)) }
    return archive.object("NSExpressionDescription", fields: fields)
  }
}
