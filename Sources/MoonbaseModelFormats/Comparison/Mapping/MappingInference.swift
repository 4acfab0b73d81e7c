public import MoonbaseModel

/// The mapping between two models that follows from the models alone: Core Data's lightweight migration.
///
/// What can be inferred: entities, attributes and relationships added, removed and renamed by renaming identifier; values that become
/// optional, or required; types of which values of the one mean values of the other (`AttributeConversion`); relationships that become
/// to-many, to-one, ordered or unordered; entities that get or lose a parent; properties that move within a hierarchy. Some of it
/// asks something of the rows (`conditions`). What cannot: a type of which no value means one of the other, a relationship that
/// leads elsewhere, two hierarchies that become one.
///
/// ```swift
/// let inference = MappingInference(from: old, to: new)
/// for problem in inference.problems { print(problem.message) }
/// ```
public struct MappingInference: Sendable {
  /// The mapping, as far as it could be inferred.
  public let mapping: MappingModel
  /// Why parts of it cannot be inferred, each with what to do; empty where the mapping is whole.
  public let problems: [ModelError]
  /// What the mapping asks of a store's rows, for example that none lacks a value that is required now. A migration counts the rows
  /// that it would cost something.
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
  /// The inferred mapping between two models. Throws `ModelError` with `.cannotInferMapping` and every reason where a part of
  /// it cannot be inferred.
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
