import MoonbaseModel

extension XcodeModelReader {
  /// Reads a `fetchedProperty` element with its `fetchRequest`. Throws `.invalidModel` for missing
  /// parts.
  mutating func fetchedProperty(_ element: MarkupElement, in owner: ReadingContext) throws(ModelError)
    -> FetchedPropertyDescription
  {
    let context = owner.property("fetched property", name: element["name"] ?? "")
    var fields = MarkupFields(element, context: context)
    let name = try fields.required("name")
    guard let child = element.child("fetchRequest") else { throw fields.error("its <fetchRequest> is missing") }
    var request = MarkupFields(child, context: context)
    request.ignore("name")
    var property = FetchedPropertyDescription(name, fetchRequest: try fetchRequest(&request, from: child))
    property.location = context.location(element.line)
    try fields.read(into: &property)
    omit("syncable", from: &fields, unless: true)
    omit("transient", from: &fields, unless: false)
    warnings += fields.warnings
    for child in element.children where child.name != "fetchRequest" {
      if child.name == "userInfo" {
        property.userInfo = try userInfo(child, in: context)
      } else {
        report(child, in: context)
      }
    }
    return property
  }

  /// Reads the remaining attributes of a fetch request. Their spelling differs between versions of Xcode.
  ///
  /// Throws `.invalidModel` for a predicate that cannot be parsed, and for an unknown result type.
  mutating func fetchRequest(_ fields: inout MarkupFields, from element: MarkupElement) throws(ModelError)
    -> FetchRequest
  {
    var request = FetchRequest(try fields.required("entity"))
    if let text = fields.value("predicateString"), !text.isEmpty {
      do { request.predicate = try Predicate(format: text) } catch { throw fields.error(error.message) }
    }
    try fields.read(into: &request)
    if let number = try fields.integer("resultType") {
      guard let type = FetchRequest.ResultType(rawValue: number) else {
        throw fields.error("there is no result type \(number)")
      }
      request.resultType = type
    }
    warnings += fields.warnings
    for child in element.children { report(child, in: fields.context) }
    return request
  }

  /// Reads a `fetchIndex` element with its elements.
  mutating func fetchIndex(_ element: MarkupElement, in owner: ReadingContext) throws(ModelError)
    -> FetchIndexDescription
  {
    let context = owner.part("fetch index \(element["name"] ?? "")")
    var fields = MarkupFields(element, context: context)
    var index = FetchIndexDescription(try fields.required("name"), elements: [])
    index.partialIndexPredicate = fields.value("partialIndexPredicate")
    index.location = context.location(element.line)
    warnings += fields.warnings
    for child in element.children {
      if child.name == "fetchIndexElement" {
        index.elements.append(try indexElement(child, in: context))
      } else {
        report(child, in: context)
      }
    }
    return index
  }

  /// Reads a `fetchIndexElement`, which names a property or an expression.
  private mutating func indexElement(_ element: MarkupElement, in context: ReadingContext) throws(ModelError)
    -> FetchIndexDescription.Element
  {
    var fields = MarkupFields(element, context: context)
    let property = fields.value("property")
    let expression = fields.value("expression")
    guard let text = property ?? expression else { throw fields.error("property or expression is missing") }
    var result = FetchIndexDescription.Element(text)
    result.isExpression = property == nil
    result.isAscending = try fields.choice("order", of: ["ascending", "descending"]) { $0 } != "descending"
    result.kind = try fields.choice("type", of: ["Binary", "RTree"]) { $0 } == "RTree" ? .rTree : .binary
    result.expressionType = fields.value("expressionType")
    finish(fields, element: element)
    return result
  }
}
