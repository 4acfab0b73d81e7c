package import MoonbaseModel
import MoonbasePlatform

/// Errors about names that do not exist, with the nearest existing name as a suggestion.
extension GraphError {
  /// The error for an entity name that the model lacks.
  package static func unknownEntity(_ name: String, in model: ResolvedModel) -> GraphError {
    let hint = suggestion(for: name, among: model.entities.map(\.name))
    return GraphError(.unknownName, message: "the model has no entity \(name.asName)\(hint)", entity: name)
  }

  /// The error for a key that is no property of the entity, or a fetched property.
  ///
  /// The names of `methods` are offered as suggestions as well.
  package static func unknownProperty(
    _ key: String, of entity: ResolvedEntity, id: ManagedObjectID? = nil, or methods: [String] = []
  ) -> GraphError {
    if entity.fetchedProperties[key] != nil { return .fetchedProperty(key, of: entity) }
    return GraphError(
      .unknownName, message: entity.noProperty(key, orFetchedProperty: true, or: methods), entity: entity.name,
      property: key,
      objectID: id)
  }

  /// The error for assigning to a fetched property.
  package static func fetchedProperty(_ key: String, of entity: ResolvedEntity) -> GraphError {
    GraphError(
      .invalidValue,
      message:
        "\(entity.name).\(key): is a fetched property, whose value is what its fetch finds: it is read and not assigned",
      entity: entity.name, property: key)
  }
}

extension GraphError {
  /// The error for a request or a save whose entity is in none of the coordinator's stores.
  static func noStore(holding entity: ResolvedEntity) -> GraphError {
    GraphError(
      .incompatibleSchema, message: "no open store holds \(entity.name): add one whose configuration has it",
      entity: entity.name)
  }
}
