import MoonbaseModel

/// A feature that a model needs and that the store's file or Moonbase lacks. The store is then read-only.
public struct MissingFeature: Sendable, Hashable, CustomStringConvertible {
  /// The name of the entity; nil if the whole file is concerned.
  public let entity: String?
  /// The name of the property; nil if the whole entity is concerned.
  public let property: String?
  /// The name of the table; nil if the whole file is concerned.
  public let table: String?
  /// The missing feature, and the consequence.
  public let reason: String
  /// The steps that make the store writable.
  public let advice: String

  /// Makes the description of a missing feature.
  package init(entity: String? = nil, property: String? = nil, table: String? = nil, reason: String, advice: String) {
    (self.entity, self.property, self.table) = (entity, property, table)
    (self.reason, self.advice) = (reason, advice)
  }

  public var description: String { "\(reason); \(advice)" }

  /// The error for a program that requires the feature.
  package func error(in path: String) -> GraphError {
    GraphError(.invalidStore, message: "\(path): \(self)", entity: entity, property: property)
  }
}

extension [MissingFeature] {
  /// The reason why a store is read-only, and the remedy; nil if nothing is missing.
  package var writingAdvice: String? {
    guard let first else { return nil }
    let others = count > 1 ? " (and \(count - 1) more: `moonbase info` lists all)" : ""
    return "\(first.reason)\(others); \(first.advice)"
  }
}
