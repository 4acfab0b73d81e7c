public import MoonbaseModel

/// The mapping inferred from two models alone: Core Data's lightweight migration.
///
/// These changes can be inferred: entities, attributes and relationships added, removed and renamed by renaming
/// identifier; values that become optional or required; types with convertible values (`AttributeConversion`);
/// relationships that become to-many, to-one, ordered or unordered; entities that get or lose a parent; properties that
/// move within a hierarchy. Some changes depend on the rows (`conditions`). These cannot be inferred: types without
/// convertible values, a relationship with another destination, two hierarchies that become one.
///
/// ```swift
/// let inference = MappingInference(from: old, to: new)
/// for problem in inference.problems { print(problem.message) }
/// ```
public struct MappingInference: Sendable {
  /// The mapping, as far as it can be inferred.
  public let mapping: MappingModel
  /// The parts that cannot be inferred, each with advice; empty if the mapping is complete.
  public let problems: [ModelError]
  /// The conditions on a store's rows, for example that a newly required value is never missing. A migration counts the
  /// rows that violate them.
  public let conditions: [ModelError]

  /// Infers the mapping from an older model to a newer one.
  public init(from source: ResolvedModel, to destination: ResolvedModel) {
    var builder = MappingBuilder(source: source, destination: destination)
    builder.build()
    mapping = MappingModel(entityMappings: builder.mappings)
    (problems, conditions) = (builder.problems, builder.conditions)
  }
}

extension MappingModel {
  /// Infers the mapping between two models. Throws `ModelError` with `.cannotInferMapping` and all reasons if a part
  /// cannot be inferred.
  public init(inferredFrom source: ResolvedModel, to destination: ResolvedModel) throws(ModelError) {
    let inference = MappingInference(from: source, to: destination)
    if let first = inference.problems.first {
      let reasons = inference.problems.map { "- \($0.message)" }.joined(separator: "\n")
      throw ModelError(
        .cannotInferMapping,
        message: "the mapping cannot be inferred; give a mapping model or a migration script:\n\(reasons)",
        entity: first.entity, property: first.property)
    }
    self = inference.mapping
  }
}
