/// Looks up relationships by name. An index is needed because an entity may have thousands, each the inverse of
/// another.
///
/// The index of an entity is made when it is first needed. The object is shared by the copies of a
/// checker and confined to its thread.
final class RelationshipsByName {
  /// The index of each relationship, by entity and name.
  private var places: [String: [String: Int]] = [:]

  /// The relationship with this name that the entity itself declares.
  func named(_ name: String, of entity: EntityDescription) -> RelationshipDescription? {
    if places[entity.name] == nil {
      places[entity.name] = Dictionary(zip(entity.relationships.map(\.name), 0...)) { first, _ in first }
    }
    return places[entity.name]?[name].map { entity.relationships[$0] }
  }
}
