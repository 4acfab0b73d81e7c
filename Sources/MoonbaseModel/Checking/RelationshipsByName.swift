/// Finds relationships that are named as inverses: an entity may have thousands, each with its inverse in one other.
final class RelationshipsByName {
  private var places: [String: [String: Int]] = [:]

  /// The relationship of a name that an entity declares itself.
  func named(_ name: String, of entity: EntityDescription) -> RelationshipDescription? {
    if places[entity.name] == nil {
      places[entity.name] = Dictionary(zip(entity.relationships.map(\.name), 0...)) { first, _ in first }
    }
    return places[entity.name]?[name].map { entity.relationships[$0] }
  }
}
