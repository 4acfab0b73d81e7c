public import MoonbaseModel

/// The mapping between two models that follows from the models alone: Core Data's lightweight migration.
///
/// What can be inferred: entities, attributes and relationships added, removed and renamed by renaming identifier; a value
/// that becomes optional, or required with a default; a relationship that becomes to-many, ordered or unordered; entities
/// that get or lose a parent; properties that move within a hierarchy. What cannot: a type that changes, a value required
/// without a default, a to-many relationship that becomes to-one, two hierarchies that become one.
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

  /// Infers the mapping from an older model to a newer one.
  public init(from source: ResolvedModel, to destination: ResolvedModel) {
    var builder = MappingBuilder(source: source, destination: destination)
    builder.build()
    mapping = MappingModel(entityMappings: builder.mappings)
    problems = builder.problems
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
