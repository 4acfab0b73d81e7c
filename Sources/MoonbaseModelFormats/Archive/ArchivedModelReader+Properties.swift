import MoonbaseModel

extension ArchivedModelReader {
  // MARK: Attributes

  /// Reads an archived attribute: plain, derived or composite, with its elements.
  ///
  /// Throws `.malformedFile` for an unknown type, and for a derivation or a rule that cannot be
  /// read.
  mutating func attribute(_ object: ArchivedObject, name: String, subject: String) throws(ModelError)
    -> AttributeDescription
  {
    guard let type = AttributeType(rawValue: object.integer("NSAttributeType") ?? 0) else {
      throw ModelError(
        .malformedFile, message: "\(subject) has the unknown type \(object.integer("NSAttributeType") ?? 0)",
        property: name)
    }
    var attribute = AttributeDescription(name, type: type)
    object.read(into: &attribute)
    attribute.forgetEmptyTransformer()
    let unknown = (object.integer("NSFlagsKey") ?? 0) & ~ArchivedKeys.storageFlags
    if unknown != 0 { warnings.append("\(subject): storage flags \(unknown) are not understood") }
    attribute.valueClassName =
      object.string(SupplementKeys.valueClass)
      ?? object.string("NSAttributeValueClassName").flatMap { type.isUsual(valueClass: $0) ? nil : $0 }
    attribute.renamingIdentifier = other(object.string("NSRenamingIdentifier"), than: name)
    attribute.userInfo = userInfo(object, subject: subject)
    attribute.derivationExpression = try derivation(object, subject: subject)
    for element in object.elements("NSElements") ?? [] {
      guard let element = element.object, let name = element.string("NSPropertyName") else { continue }
      attribute.elements.append(try self.attribute(element, name: name, subject: "\(subject).\(name)"))
    }
    readDefault(object, into: &attribute, subject: subject)
    try readValidation(object, into: &attribute, subject: subject)
    return attribute
  }

  /// The derivation as text; nil for an attribute that is not derived. A filtering predicate is
  /// left out with a warning.
  private mutating func derivation(_ object: ArchivedObject, subject: String) throws(ModelError) -> String? {
    if object["NSFilteringPredicate"] != nil {
      warnings.append("\(subject): the predicate that filters what it is derived from is left out")
    }
    if let text = object.string(SupplementKeys.derivation) { return text }
    guard let expression = object["NSDerivationExpression"]?.object else { return nil }
    do { return DerivationText.text(try ArchivedPredicateReader().expression(expression)) } catch {
      throw ModelError(error.code, message: "\(subject): its derivation: \(error.message)")
    }
  }

  /// Reads the default value. An unreadable default is a warning and not an error, because the model remains usable for
  /// existing objects.
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

  /// The value in the attribute's type, because an archive does not distinguish types of numbers.
  ///
  /// For example, an integer 1 becomes `true` for a boolean attribute.
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

  /// Reads an archived relationship. Destination and inverse are given by name or as objects.
  ///
  /// Throws `.malformedFile` if there is no destination. An unknown delete rule becomes `nullify`
  /// with a warning.
  mutating func relationship(_ object: ArchivedObject, name: String, subject: String) throws(ModelError)
    -> RelationshipDescription
  {
    let entity = object["NSDestinationEntity"]?.object
    guard let destination = object.string("_NSDestinationEntityName") ?? entity?.string("NSEntityName") else {
      throw ModelError(.malformedFile, message: "\(subject) has no destination", property: name)
    }
    let inverse =
      object.string("_NSInverseRelationshipName")
      ?? object["NSInverseRelationship"]?.object?.string("NSPropertyName")
    var relationship = RelationshipDescription.toMany(name, destination: destination, inverse: inverse)
    relationship.maxCount = object.integer("NSMaxCount") ?? 0
    object.read(into: &relationship)
    let rule = object.integer("NSDeleteRule") ?? DeleteRule.nullify.rawValue
    if let known = DeleteRule(rawValue: rule) {
      relationship.deleteRule = known
    } else {
      warnings.append("\(subject): the delete rule \(rule) is not understood; nullify stands for it")
    }
    relationship.renamingIdentifier = other(object.string("NSRenamingIdentifier"), than: name)
    relationship.userInfo = userInfo(object, subject: subject)
    return relationship
  }
}

extension AttributeType {
  /// Whether a class is the default class for values of the type.
  ///
  /// The description does not state this class, because the type implies it.
  func isUsual(valueClass name: String) -> Bool { name == foundationClassName || name == "NSObject" }
}
