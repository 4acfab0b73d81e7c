package import MoonbaseModel
import MoonbasePlatform

/// Names that do not exist, with the nearest one that does.
extension GraphError {
  /// An entity that a model does not have.
  package static func unknownEntity(_ name: String, in model: ResolvedModel) -> GraphError {
    let hint = suggestion(for: name, among: model.entities.map(\.name))
    return GraphError(.unknownName, message: "the model has no entity \(name.asName)\(hint)", entity: name)
  }

  /// A property that an entity does not have, or that holds no value; `methods` could have been meant too.
  package static func unknownProperty(
    _ key: String, of entity: ResolvedEntity, id: ManagedObjectID? = nil, or methods: [String] = []
  ) -> GraphError {
    if entity.fetchedProperties[key] != nil { return .fetchedProperty(key, of: entity) }
    return GraphError(
      .unknownName, message: entity.noProperty(key, orFetchedProperty: true, or: methods), entity: entity.name,
      property: key,
      objectID: id)
  }

  /// A fetched property that was taken for one that holds a value.
  package static func fetchedProperty(_ key: String, of entity: ResolvedEntity) -> GraphError {
    GraphError(
      .invalidValue,
      message:
        "\(entity.name).\(key): is a fetched property, whose value is what its fetch finds: it is read and not assigned",
      entity: entity.name, property: key)
  }
}

extension GraphError {
  /// Objects of an entity were asked for or to be saved, and no store of the coordinator has the entity.
  static func noStore(holding entity: ResolvedEntity) -> GraphError {
    GraphError(
      .incompatibleSchema, message: "no open store holds \(entity.name): add one whose configuration has it",
      entity: entity.name)
  }
}
