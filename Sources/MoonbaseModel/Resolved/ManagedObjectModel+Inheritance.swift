import MoonbasePlatform

extension ManagedObjectModel {
  /// The model with inheritance declared in subentities only.
  ///
  /// Throws `ModelError` with `.invalidModel` if an entity names a child that does not exist or has another parent.
  ///
  /// The result has no `subentityNames`. The work is linear in the number of entities.
  package func withInheritanceFromChildren() throws(ModelError) -> Self {
    guard entities.contains(where: { !$0.subentityNames.isEmpty }) else { return self }
    var model = self
    let places = Dictionary(entities.enumerated().map { ($1.name, $0) }) { first, _ in first }
    for (parent, entity) in entities.enumerated() {
      for name in entity.subentityNames {
        guard let child = places[name] else {
          throw ModelError(
            .invalidModel,
            message:
              "entity \(entity.name): its subentity \(name) is not in the model\(suggestion(for: name, among: places.keys.sorted()))",
            at: entity.location, entity: entity.name)
        }
        if let other = model.entities[child].superentityName, other != entity.name {
          throw ModelError(
            .invalidModel,
            message: "entity \(name) is a subentity of \(entity.name) and of \(other): it can have one parent",
            at: entities[child].location ?? entity.location, entity: name)
        }
        model.entities[child].superentityName = entity.name
      }
      model.entities[parent].subentityNames = []
    }
    return model
  }
}
