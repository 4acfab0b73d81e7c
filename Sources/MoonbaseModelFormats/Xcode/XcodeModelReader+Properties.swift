import MoonbaseModel
import MoonbasePlatform

extension XcodeModelReader {
  // MARK: Attributes

  /// Reads an `attribute` element.
  ///
  /// Throws `.invalidModel` for a missing name and an unknown type. Values that do not fit the type
  /// are kept, with a warning of the resolver.
  mutating func attribute(_ element: MarkupElement, in owner: ReadingContext) throws(ModelError) -> AttributeDescription
  {
    let context = owner.property("attribute", name: element["name"] ?? "")
    var fields = MarkupFields(element, context: context)
    var attribute = AttributeDescription(try fields.required("name"), type: try type(&fields))
    attribute.location = context.location(element.line)
    try fields.read(into: &attribute)
    attribute.forgetEmptyTransformer()
    if try fields.flag("derived") == false, let text = attribute.derivationExpression {
      warn(fields, message: "derivationExpression=\"\(text)\" has no meaning, for it is not derived")
      attribute.derivationExpression = nil
    }
    omit("syncable", from: &fields, unless: true)
    omit("storedInTruthFile", from: &fields, unless: false)
    try readComposite(element, fields: &fields, into: &attribute, in: context)
    try readValues(&fields, into: &attribute)
    warnings += fields.warnings
    return attribute
  }

  /// Reads the type. A missing type means Undefined, as is usual for transient attributes.
  ///
  /// Throws `.invalidModel` with a suggestion for an unknown type.
  private func type(_ fields: inout MarkupFields) throws(ModelError) -> AttributeType {
    guard let name = fields.value("attributeType") else { return .undefined }
    guard let type = AttributeType(xcodeName: name) else {
      let names = AttributeType.allCases.map(\.xcodeName)
      throw fields.error("there is no attribute type \(name)\(suggestion(for: name, among: names))")
    }
    return type
  }

  /// Reads the elements of a composite, in the attribute itself or in a named composite of the model.
  ///
  /// Also reads the user info, which is a child element too.
  private mutating func readComposite(
    _ element: MarkupElement, fields: inout MarkupFields, into attribute: inout AttributeDescription,
    in context: ReadingContext
  ) throws(ModelError) {
    if let name = fields.value("compositeName") {
      guard let elements = compositeElements(name) else { throw fields.error("there is no composite \(name)") }
      attribute.elements = elements
    }
    for child in element.children {
      switch child.name {
      case "userInfo": attribute.userInfo = try userInfo(child, in: context)
      case "attribute" where attribute.type == .composite:
        attribute.elements.append(try self.attribute(child, in: context))
      default: report(child, in: context)
      }
    }
  }

  /// Reads the default, the bounds and the pattern. For strings, the bounds are those of the
  /// length.
  private mutating func readValues(_ fields: inout MarkupFields, into attribute: inout AttributeDescription)
    throws(ModelError)
  {
    if let text = fields.value("defaultValueString") {
      attribute.defaultValue = value(text, name: "defaultValueString", fields: fields, for: attribute) ?? .null
    }
    if let seconds = try fields.real("defaultDateTimeInterval") {
      attribute.defaultValue = .date(Date(timeIntervalSinceReferenceDate: seconds))
    }
    if let text = fields.value("regularExpressionString"), !text.isEmpty {
      attribute.validation.regularExpression = text
    }
    if attribute.type == .string {
      attribute.validation.minimumLength = length("minValueString", &fields)
      attribute.validation.maximumLength = length("maxValueString", &fields)
      return
    }
    if let text = fields.value("minValueString") {
      attribute.validation.minimum = value(text, name: "minValueString", fields: fields, for: attribute)
    }
    if let text = fields.value("maxValueString") {
      attribute.validation.maximum = value(text, name: "maxValueString", fields: fields, for: attribute)
    }
    if let seconds = try fields.real("minDateTimeInterval") {
      attribute.validation.minimum = .date(Date(timeIntervalSinceReferenceDate: seconds))
    }
    if let seconds = try fields.real("maxDateTimeInterval") {
      attribute.validation.maximum = .date(Date(timeIntervalSinceReferenceDate: seconds))
    }
  }

  /// Reads a bound of a string's length: `5`, or `5.0` if the type was changed.
  ///
  /// A text of another form is left out with a warning.
  private mutating func length(_ name: String, _ fields: inout MarkupFields) -> Int? {
    guard let text = fields.value(name) else { return nil }
    if let length = Int(text) ?? Double(text).flatMap({ Int(exactly: $0) }) { return length }
    warn(fields, message: "\(name)=\"\(text)\" is no length, and is left out")
    return nil
  }

  /// The value of a text in the attribute's type; nil with a warning for a type without values in
  /// this form.
  private mutating func value(
    _ text: String, name: String, fields: MarkupFields, for attribute: AttributeDescription
  ) -> Value? {
    switch ModelText.value(text, of: attribute.type) {
    case .none:
      warn(fields, message: "\(name)=\"\(text)\" has no meaning for an attribute of type \(attribute.type.xcodeName)")
      return nil
    // A value of another type is kept. The model's resolver warns about it, and converts it as Core Data does.
    case .some(let value): return value.map { (try? attribute.checked($0)) ?? $0 } ?? .string(text)
    }
  }

  /// Adds a warning at the element of the fields.
  private mutating func warn(_ fields: MarkupFields, message: String) {
    warnings.append(fields.warning(message))
  }

  // MARK: Relationships

  /// Reads a `relationship` element. A relationship is to-many if `toMany` is `YES`, whatever its
  /// `maxCount`.
  mutating func relationship(_ element: MarkupElement, in owner: ReadingContext) throws(ModelError)
    -> RelationshipDescription
  {
    let context = owner.property("relationship", name: element["name"] ?? "")
    var fields = MarkupFields(element, context: context)
    let name = try fields.required("name")
    let destination = try fields.required("destinationEntity")
    let maximum = try fields.integer("maxCount")
    var relationship: RelationshipDescription
    if try fields.flag("toMany") ?? false {
      relationship = .toMany(name, destination: destination)
      relationship.maxCount = maximum ?? 0
      if maximum == 1 {
        warn(fields, message: "toMany=\"YES\" has no meaning beside maxCount=\"1\", which makes it to-one")
      }
    } else {
      relationship = .toOne(name, destination: destination)
      if let maximum, maximum != 1 {
        warn(fields, message: "maxCount=\"\(maximum)\" has no meaning without toMany=\"YES\": it is to-one")
      }
    }
    relationship.location = context.location(element.line)
    try fields.read(into: &relationship)
    if let rule = fields.value("deletionRule") { relationship.deleteRule = try deleteRule(rule, fields: fields) }
    fields.ignore("inverseEntity")
    omit("syncable", from: &fields, unless: true)
    omit("indexed", "storedInTruthFile", from: &fields, unless: false)
    warnings += fields.warnings
    for child in element.children {
      if child.name == "userInfo" {
        relationship.userInfo = try userInfo(child, in: context)
      } else {
        report(child, in: context)
      }
    }
    return relationship
  }

  /// The delete rule of a name. Throws `.invalidModel` with a suggestion.
  private func deleteRule(_ name: String, fields: MarkupFields) throws(ModelError) -> DeleteRule {
    guard let rule = DeleteRule(xcodeName: name) else {
      let names = DeleteRule.allCases.map(\.xcodeName)
      throw fields.error("there is no deletion rule \(name)\(suggestion(for: name, among: names))")
    }
    return rule
  }
}
