import MoonbaseModel

extension XcodeModelReader {
  mutating func fetchedProperty(_ element: MarkupElement, _ owner: TreeContext) throws(ModelError)
    -> FetchedPropertyDescription
  {
    let context = owner.property("fetched property", element["name"] ?? "")
    var fields = MarkupFields(element, context)
    let name = try fields.required("name")
    guard let child = element.child("fetchRequest") else { throw fields.error("its <fetchRequest> is missing") }
    var request = MarkupFields(child, context)
    request.ignore("name")
    var property = FetchedPropertyDescription(name, try fetchRequest(&request, child))
    property.location = context.location(element.line)
    property.isOptional = try fields.bool("optional") ?? false
    property.renamingIdentifier = fields.take("elementID") ?? fields.take("renamingIdentifier")
    fields.ignore("syncable", "transient")
    warnings += fields.warnings
    for child in element.children where child.name != "fetchRequest" {
      if child.name == "userInfo" { property.userInfo = try userInfo(child, context) } else { report(child, context) }
    }
    return property
  }

  /// Reads what is left of a fetch request's attributes. Their spelling differs between versions of Xcode.
  mutating func fetchRequest(_ fields: inout MarkupFields, _ element: MarkupElement) throws(ModelError) -> FetchRequest
  {
    var request = FetchRequest(try fields.required("entity"))
    if let text = fields.take("predicateString"), !text.isEmpty {
      do { request.predicate = try Predicate(format: text) } catch { throw fields.error(error.message) }
    }
    request.fetchLimit = try fields.integer("fetchLimit") ?? 0
    request.fetchBatchSize = try fields.integer("fetchBatchSize") ?? 0
    request.includesSubentities =
      try first(&fields, "includeSubentities", "includesSubentities") ?? request.includesSubentities
    request.includesPropertyValues =
      try first(&fields, "includePropertyValues", "includesPropertyValues") ?? request.includesPropertyValues
    request.returnsObjectsAsFaults =
      try first(&fields, "returnObjectsAsFaults", "returnsObjectsAsFaults") ?? request.returnsObjectsAsFaults
    request.includesPendingChanges =
      try first(&fields, "includesPendingChanges", "includePendingChanges") ?? request.includesPendingChanges
    request.returnsDistinctResults = try first(&fields, "returnDistinctResults", "returnsDistinctResults") ?? false
    if let number = try fields.integer("resultType") {
      guard let type = FetchRequest.ResultType(rawValue: number) else {
        throw fields.error("there is no result type \(number)")
      }
      request.resultType = type
    }
    warnings += fields.warnings
    for child in element.children { report(child, fields.context) }
    return request
  }

  private func first(_ fields: inout MarkupFields, _ names: String...) throws(ModelError) -> Bool? {
    for name in names {
      if let bool = try fields.bool(name) { return bool }
    }
    return nil
  }

  mutating func fetchIndex(_ element: MarkupElement, _ owner: TreeContext) throws(ModelError) -> FetchIndexDescription {
    let context = owner.part("fetch index \(element["name"] ?? "")")
    var fields = MarkupFields(element, context)
    var index = FetchIndexDescription(try fields.required("name"), [])
    index.partialIndexPredicate = fields.take("partialIndexPredicate")
    index.location = context.location(element.line)
    warnings += fields.warnings
    for child in element.children {
      if child.name == "fetchIndexElement" {
        index.elements.append(try indexElement(child, context))
      } else {
        report(child, context)
      }
    }
    return index
  }

  private mutating func indexElement(_ element: MarkupElement, _ context: TreeContext) throws(ModelError)
    -> FetchIndexDescription.Element
  {
    var fields = MarkupFields(element, context)
    let property = fields.take("property")
    let expression = fields.take("expression")
    guard let text = property ?? expression else { throw fields.error("property or expression is missing") }
    var result = FetchIndexDescription.Element(text)
    result.isExpression = property == nil
    result.isAscending = try fields.choice("order", "ascending", "descending") != "descending"
    result.kind = try fields.choice("type", "Binary", "RTree") == "RTree" ? .rTree : .binary
    result.expressionType = fields.take("expressionType")
    finish(fields, element)
    return result
  }
}
