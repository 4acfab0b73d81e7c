extension ManagedObjectModel {
  /// Merges models into a single model with all their entities, fetch request templates, configurations and version
  /// identifiers.
  ///
  /// An entity or template that several models declare identically is kept once. Throws `ModelError` with
  /// `.invalidModel` for different declarations.
  public init(merging models: [ManagedObjectModel]) throws(ModelError) {
    self.init()
    for model in models { try merge(model) }
  }

  /// Adds the parts of another model. Throws `.invalidModel` for a part that is declared
  /// differently.
  private mutating func merge(_ other: ManagedObjectModel) throws(ModelError) {
    let known = entitiesByName
    for entity in other.entities {
      if let own = known[entity.name] {
        if own != entity { throw Self.conflict("entity \(entity.name)", own.location, entity.location) }
      } else {
        entities.append(entity)
      }
    }
    for (name, request) in other.fetchRequestTemplates {
      if let own = fetchRequestTemplates[name], own != request {
        let part = ModelPart.fetchRequest(name)
        throw Self.conflict("\(part)", locations[part], other.locations[part])
      }
      fetchRequestTemplates[name] = request
    }
    for (name, members) in other.configurations {
      let own = configurations[name] ?? []
      configurations[name] = own + members.filter { !own.contains($0) }
    }
    versionIdentifiers += other.versionIdentifiers.filter { !versionIdentifiers.contains($0) }
    allowsUnknownClasses = allowsUnknownClasses || other.allowsUnknownClasses
    warnings += other.warnings
    locations.merge(other.locations) { own, _ in own }
  }

  /// The error about a part that two models declare differently.
  private static func conflict(_ what: String, _ first: SourceLocation?, _ second: SourceLocation?) -> ModelError {
    let place = first.map { ", first at \($0)" } ?? ""
    return ModelError(.invalidModel, message: "\(what) is stated differently in two of the models\(place)", at: second)
  }
}
