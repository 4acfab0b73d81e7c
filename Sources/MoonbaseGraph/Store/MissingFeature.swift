import MoonbaseModel

/// Something that a model asks of a store's file, and that this file or Moonbase lacks. Such a store can be read and not written.
public struct MissingFeature: Sendable, Hashable, CustomStringConvertible {
  /// The entity that it concerns; nil where it is the whole file.
  public let entity: String?
  /// The property that it concerns; nil where it is the whole entity.
  public let property: String?
  /// The table where it was looked for; nil where it is the whole file.
  public let table: String?
  /// What there is not, and what follows from that.
  public let reason: String
  /// What to do so that the store can be written.
  public let advice: String

  package init(entity: String? = nil, property: String? = nil, table: String? = nil, reason: String, advice: String) {
    (self.entity, self.property, self.table) = (entity, property, table)
    (self.reason, self.advice) = (reason, advice)
  }

  public var description: String { "\(reason); \(advice)" }

  /// What says so where it is asked for.
  package func error(in path: String) -> GraphError {
    GraphError(.invalidStore, message: "\(path): \(self)", entity: entity, property: property)
  }
}

extension [MissingFeature] {
  /// Why a store is read-only, and what to do about it; nil where nothing is missing.
  package var writingAdvice: String? {
    guard let first else { return nil }
    let others = count > 1 ? " (and \(count - 1) more: `moonbase info` lists all)" : ""
    return "\(first.reason)\(others); \(first.advice)"
  }
}
