import MoonbaseModel

extension ArchivedModelReader {
  /// Reads an archived `NSFetchedPropertyDescription`.
  ///
  /// Throws `.malformedFile` if the fetch request is missing or names no entity.
  mutating func fetchedProperty(_ object: ArchivedObject, name: String, subject: String) throws(ModelError)
    -> FetchedPropertyDescription
  {
    guard let request = object["NSFetchRequest"]?.object else {
      throw ModelError(.malformedFile, message: "\(subject) has no fetch request", property: name)
    }
    var property = FetchedPropertyDescription(name, fetchRequest: try fetchRequest(request, subject: subject))
    object.read(into: &property)
    property.renamingIdentifier = other(object.string("NSRenamingIdentifier"), than: name)
    property.userInfo = userInfo(object, subject: subject)
    return property
  }

  /// Reads an archived `NSFetchRequest`, in a template or a fetched property.
  ///
  /// Negative limits become 0. Unknown result types, flags and comparators cause warnings, because
  /// the rest of the request remains usable.
  mutating func fetchRequest(_ object: ArchivedObject, subject: String) throws(ModelError) -> FetchRequest {
    guard let entity = object["NSEntity"]?.object?.string("NSEntityName") ?? object.string("NSEntityName") else {
      throw ModelError(.malformedFile, message: "\(subject): its fetch request names no entity")
    }
    report(object, subject: subject)
    var request = FetchRequest(entity)
    request.predicate = try predicate(object, key: "NSPredicate", subject: subject)
    request.havingPredicate = try predicate(object, key: "NSHavingPredicate", subject: subject)
    for descriptor in object.elements("NSSortDescriptors") ?? [] {
      if let key = sortDescriptor(descriptor, subject: subject) { request.sortDescriptors.append(key) }
    }
    object.read(into: &request)
    for path in [\FetchRequest.fetchLimit, \.fetchOffset, \.fetchBatchSize] {
      request[keyPath: path] = max(0, request[keyPath: path])
    }
    request.relationshipKeyPathsForPrefetching = names(
      object, key: "NSRelationshipKeyPathsForPrefetching", subject: subject)
    request.propertiesToGroupBy = names(object, key: "NSValuesToGroupBy", subject: subject)
    for column in object.elements("NSValuesToFetch") ?? [] {
      request.propertiesToFetch.append(try self.column(column, subject: subject))
    }
    let type = object.integer("NSResultType") ?? 0
    if let known = FetchRequest.ResultType(rawValue: type) {
      request.resultType = known
    } else {
      warnings.append("\(subject): the result type \(type) of its fetch request is not understood")
    }
    if let flags = object.integer("NSFetchRequestFlags"), flags != ArchivedFetchRequest.defaultFlags {
      warnings.append("\(subject): the flags \(flags) of its fetch request are not understood")
    }
    return request
  }

  /// The predicate of a key; nil if there is none. Errors name the subject.
  private func predicate(_ object: ArchivedObject, key: String, subject: String) throws(ModelError) -> Predicate? {
    guard let archived = object[key]?.object else { return nil }
    do { return try ArchivedPredicateReader().predicate(archived) } catch {
      throw ModelError(error.code, message: "\(subject): its predicate: \(error.message)")
    }
  }

  /// The names in a list. Elements without a name are reported.
  ///
  /// For example, the property names in `NSValuesToGroupBy`.
  private mutating func names(_ object: ArchivedObject, key: String, subject: String) -> [String] {
    let elements = object.elements(key) ?? []
    let names = elements.compactMap(\.propertyName)
    if names.count < elements.count { warnings.append("\(subject): some of \(key) are not understood and left out") }
    return names
  }

  /// A column: the name of a property, or an `NSExpressionDescription` with its expression.
  private mutating func column(_ archived: ArchivedValue, subject: String) throws(ModelError) -> FetchColumn {
    guard let name = archived.propertyName else {
      throw ModelError(.malformedFile, message: "\(subject): a column of its fetch request has no name")
    }
    guard let object = archived.object, object.className == "NSExpressionDescription" else { return FetchColumn(name) }
    report(object, subject: "\(subject), column \(name)")
    guard let expression = object["NSExpression"]?.object else {
      throw ModelError(.malformedFile, message: "\(subject): the column \(name) has no expression")
    }
    var column = FetchColumn(name)
    do { column.expression = try ArchivedPredicateReader().expression(expression) } catch {
      throw ModelError(error.code, message: "\(subject): the column \(name): \(error.message)")
    }
    if let type = object.integer("NSExpressionResultType") { column.resultType = AttributeType(rawValue: type) }
    return column
  }

  /// A sort key; nil with a warning for a descriptor without a key, such as a comparator block.
  private mutating func sortDescriptor(_ archived: ArchivedValue, subject: String) -> SortDescriptor? {
    guard let object = archived.object, let key = object.string("NSKey") else {
      warnings.append("\(subject): a sort descriptor without a key is left out")
      return nil
    }
    report(object, subject: "\(subject), sort key \(key)")
    var descriptor = SortDescriptor(key, ascending: object.bool("NSAscending"))
    if let selector = object.string("NSSelector") {
      let name = selector.hasSuffix(":") ? String(selector.dropLast()) : selector
      if let comparator = SortDescriptor.Comparator(rawValue: name) {
        descriptor.comparator = comparator
      } else {
        warnings.append("\(subject), sort key \(key): \(selector) is not known here; compare: stands for it")
      }
    }
    return descriptor
  }
}

/// The shared constants of archived fetch requests.
enum ArchivedFetchRequest {
  /// The flags of an unmodified request. The meaning of the bits is unknown.
  static let defaultFlags = 30
}
