import MoonbaseModel

/// Converts the literals that a predicate compares with attributes of a value class.
///
/// A value of the class stays. A text becomes the value that `parse` of the class makes, a list or map that of
/// `from_tree`. A literal that cannot become a value of the class is refused: the comparison could find nothing.
///
/// ```text
/// color = "#ff0000"       compared with the color of the text
/// color IN {"red"}        each element is converted
/// color = 17              refused: no value of the class
/// color BEGINSWITH "#"    unchanged
/// ```
struct ClassLiterals {
  /// The context with the classes of attributes.
  let context: ManagedObjectContext
  /// The entity of the evaluated object.
  let entity: ResolvedEntity

  /// The predicate with converted literals. Throws `.predicateMismatch` with the attribute and the class.
  func converted(_ predicate: Predicate) throws -> Predicate {
    switch predicate {
    case .constant: predicate
    case .comparison(let comparison): .comparison(try converted(comparison))
    case .and(let parts): .and(try parts.map(converted))
    case .or(let parts): .or(try parts.map(converted))
    case .not(let inner): .not(try converted(inner))
    }
  }

  /// The comparison with converted literals on the side opposite the attribute.
  private func converted(_ comparison: Predicate.Comparison) throws -> Predicate.Comparison {
    guard [.equal, .notEqual, .in].contains(comparison.operator) else { return comparison }
    var result = comparison
    if let attribute = try attribute(comparison.left) {
      result.right = try converted(comparison.right, attribute, isList: comparison.operator == .in)
    } else if comparison.operator != .in, let attribute = try attribute(comparison.right) {
      result.left = try converted(comparison.left, attribute, isList: false)
    }
    return result
  }

  /// An attribute with its class.
  private typealias ClassAttribute = (entity: ResolvedEntity, property: ResolvedProperty, valueClass: ValueClass)

  /// The attribute of a value class at the end of a key path; nil for other expressions.
  private func attribute(_ expression: Expression) throws -> ClassAttribute? {
    guard case .keyPath(.evaluatedObject, let keys) = expression else { return nil }
    var entity = entity
    for (index, key) in keys.enumerated() {
      guard let property = entity.property(key) else { return nil }
      if index == keys.count - 1 {
        return try context.valueClass(of: property, in: entity).map { (entity, property, $0) }
      }
      guard let relationship = property.relationship else { return nil }
      entity = context.model.entities[relationship.destination]
    }
    return nil
  }

  /// The literal as values of the class. An expression without literals is returned unchanged.
  private func converted(
    _ expression: Expression, _ attribute: ClassAttribute, isList: Bool
  ) throws -> Expression {
    switch expression {
    case .constant(.list(let values)) where isList:
      return .constant(.list(try values.map { try value($0, of: attribute) }))
    case .constant(let literal) where !isList: return .constant(try value(literal, of: attribute))
    case .aggregate(let elements):
      if isList { return .aggregate(try elements.map { try converted($0, attribute, isList: false) }) }
      let values = elements.compactMap { if case .constant(let value) = $0 { value } else { nil } }
      return values.count == elements.count ? .constant(try value(.list(values), of: attribute)) : expression
    default: return expression
    }
  }

  /// A value of the class from a literal. Throws `.predicateMismatch`.
  private func value(_ literal: Value, of attribute: ClassAttribute) throws -> Value {
    let valueClass = attribute.valueClass
    if try literal.isNull || valueClass.contains(literal) { return literal }
    let made: Value?
    do {
      made = try valueClass.conversion(of: literal)?.make()
    } catch let error as any CodedError where error.code == .invalidValue {
      throw refusal(of: literal, attribute, because: "\(error)")
    }
    guard let made, try valueClass.contains(made) else {
      throw refusal(
        of: literal, attribute,
        because: "its values are of class \(valueClass.name), and \(literal.typePhrase) equals none of them"
          + valueClass.advice(for: literal))
    }
    return made
  }

  /// The error for a literal.
  private func refusal(of literal: Value, _ attribute: ClassAttribute, because reason: String) -> ModelError {
    let name = "\(attribute.entity.name).\(attribute.property.name)"
    return ModelError(
      .predicateMismatch, message: "\(name) is compared with a literal\(literal.inParentheses): \(reason)",
      entity: attribute.entity.name, property: attribute.property.name)
  }
}
