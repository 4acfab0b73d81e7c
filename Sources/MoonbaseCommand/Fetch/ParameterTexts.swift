import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// The parameters of a predicate as a command line has them: texts, which become values by what they are compared with.
struct ParameterTexts {
  private let texts: [String]
  private let entity: ResolvedEntity?
  private let context: ManagedObjectContext

  init(_ texts: [String], entity: String, in context: ManagedObjectContext) {
    (self.texts, self.context) = (texts, context)
    self.entity = context.model.entity(entity)
  }

  /// The predicate with a value for each `%@`.
  func predicate(_ format: String) throws -> Predicate {
    let predicate = try Predicate(format: format, arguments: texts.map(Value.string))
    return texts.isEmpty ? predicate : typed(predicate)
  }

  private func typed(_ predicate: Predicate) -> Predicate {
    switch predicate {
    case .constant: return predicate
    case .and(let parts): return .and(parts.map(typed))
    case .or(let parts): return .or(parts.map(typed))
    case .not(let inner): return .not(typed(inner))
    case .comparison(var comparison):
      let (left, right) = (comparison.left, comparison.right)
      comparison.left = typed(left, beside: right)
      comparison.right = typed(right, beside: left)
      return .comparison(comparison)
    }
  }

  /// An attribute of a type that texts are converted to takes the text, all else what the text looks like.
  private func typed(_ side: Expression, beside other: Expression) -> Expression {
    if let type = attribute(other)?.type, Self.typesOfTexts.contains(type) { return side }
    return side.replacing { part in
      guard case .constant(.string(let text)) = part, texts.contains(text), let value = value(of: text) else {
        return nil
      }
      return .constant(value)
    }
  }

  private static let typesOfTexts: Set<AttributeType> = [.string, .date, .uuid, .uri, .binaryData, .decimal]

  private func value(of text: String) -> Value? {
    if let number = Int64(text) { return .int(number) }
    if let number = Double(text), number.isFinite { return .double(number) }
    switch text.lowercased() {
    case "true", "yes": return .bool(true)
    case "false", "no": return .bool(false)
    default: return context.coordinator.managedObjectID(forURIRepresentation: text).map(Value.objectID)
    }
  }

  /// The attribute at the end of a key path.
  private func attribute(_ expression: Expression) -> AttributeDescription? {
    guard case .keyPath(.evaluatedObject, let keys) = expression, var entity else { return nil }
    for (index, key) in keys.enumerated() {
      guard let property = entity.property(key) else { return nil }
      if index == keys.count - 1 { return property.attribute }
      guard let relationship = property.relationship else { return nil }
      entity = context.model.entities[relationship.destination]
    }
    return nil
  }
}
