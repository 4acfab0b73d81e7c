import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// The parameters of a predicate on the command line. They are texts, and each becomes a value of the type that it is
/// compared with.
///
/// For example, `--where 'born > %@' --param 2001-01-31` compares with a date, and `--where 'code =
/// %@' --param 007` with a text.
struct ParameterTexts {
  /// The texts, in the order of the placeholders.
  private let texts: [String]
  /// Placeholders for the texts.
  private let marks: [String]
  /// The entity of the request.
  private let entity: ResolvedEntity?
  /// The context, for the model.
  private let context: ManagedObjectContext

  /// The parameters of a request.
  init(_ texts: [String], entity: String, in context: ManagedObjectContext) {
    (self.texts, self.context) = (texts, context)
    // A unique name that can also be a key.
    let name = UUID().uuidString.filter { $0 != "-" }
    marks = texts.indices.map { "parameter\(name)n\($0)" }
    self.entity = context.model.entity(entity)
  }

  /// The predicate with a value for each `%@`.
  ///
  /// The format is parsed with placeholders instead of the texts, so that a literal which is equal to a text stays
  /// unchanged.
  func predicate(_ format: String) throws -> Predicate {
    let predicate = try read(format)
    if let pattern = predicate.sqlPattern {
      Terminal.complain("moonbase: \(PredicateWords.advice(pattern: pattern))")
    }
    if texts.isEmpty { return predicate }
    return typed(try Predicate(format: format, arguments: marks.map(Value.string)).replacing(restoringKeys))
  }

  /// The predicate with a value for each of these variables. The texts have the same order as the names.
  func substituting(_ names: [String], in predicate: Predicate) -> Predicate {
    typed(
      predicate.replacing { part in
        guard case .variable(let name) = part, let index = names.firstIndex(of: name) else { return nil }
        return .constant(.string(marks[index]))
      })
  }

  /// Parses a predicate. Names of properties that are keywords get advice.
  private func read(_ format: String) throws -> Predicate {
    if let entity, let word = PredicateWords.property(in: format, of: entity, asOperand: true) {
      throw ModelError(.invalidPredicate, message: PredicateWords.advice(word), entity: entity.name, property: word)
    }
    do { return try Predicate(format: format, arguments: texts.map(Value.string)) } catch {
      guard let entity, let word = PredicateWords.property(in: format, of: entity, asOperand: false) else {
        throw error
      }
      throw ModelError(
        error.code, message: "\(error.message); \(PredicateWords.advice(word))", entity: entity.name, property: word)
    }
  }

  /// Replaces the placeholders for `%K` by keys.
  private func restoringKeys(_ expression: Expression) -> Expression? {
    guard case .keyPath(let base, let keys) = expression else { return nil }
    let known = keys.flatMap { key in text(of: key).map { $0.split(separator: ".").map(String.init) } ?? [key] }
    return .keyPath(base.replacing(restoringKeys), known)
  }

  /// The text of a placeholder.
  private func text(of mark: String) -> String? { marks.firstIndex(of: mark).map { texts[$0] } }

  /// The predicate with typed parameters.
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

  /// If the other side is an attribute of a type that texts can be converted to, the text is converted to this type.
  /// Otherwise, the type depends on the form of the text.
  private func typed(_ side: Expression, beside other: Expression) -> Expression {
    let isOfTexts = attribute(other).map { Self.typesOfTexts.contains($0.type) } ?? false
    return side.replacing { part in
      guard case .constant(.string(let mark)) = part, let text = text(of: mark) else { return nil }
      return .constant((isOfTexts ? nil : value(of: text)) ?? .string(text))
    }
  }

  /// The types whose values are written as texts.
  private static let typesOfTexts: Set<AttributeType> = [.string, .date, .uuid, .uri, .binaryData, .decimal]

  /// The value of a text by its form: a number, a boolean or null; nil for other texts.
  private func value(of text: String) -> Value? {
    if let number = Int64(text) { return .int(number) }
    if let number = Double(text), number.isFinite { return .double(number) }
    switch text.lowercased() {
    case "true", "yes": return .bool(true)
    case "false", "no": return .bool(false)
    default: return context.coordinator.managedObjectID(named: text).map(Value.objectID)
    }
  }

  /// The attribute at the end of a key path.
  func attribute(_ expression: Expression) -> AttributeDescription? {
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
