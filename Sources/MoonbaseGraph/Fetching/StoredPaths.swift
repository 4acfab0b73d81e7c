import MoonbaseModel

/// Decides which key paths a store can read without the context.
///
/// Used for columns, groups and sort keys. A path qualifies if the store holds the value of each step as
/// it is, in all entities of the path, and if the path has a single value.
struct StoredPaths {
  /// The context with the behaviors of the entities.
  let context: ManagedObjectContext
  /// The entity at which paths begin.
  let entity: ResolvedEntity
  /// The entity and, if included, its subentities.
  let entities: Range<EntityIndex>

  /// The reason why a store does not have the values of a key path, as a clause; nil if it has them. For example, "city
  /// of Person is computed by the context".
  func reason(_ keys: [String]) throws -> String? {
    var (entity, entities) = (entity, entities)
    let path = keys.joined(separator: ".")
    for (place, key) in keys.enumerated() {
      guard let property = entity.property(key), !property.isTransient else {
        return "\(path) is not kept in the store"
      }
      for index in entities {
        guard try context.behavior(of: context.model.entities[index]).isStoredAsIs(property.slot) else {
          return "\(key) of \(context.model.entities[index].name) is computed by the context"
        }
      }
      let isLast = place == keys.count - 1
      switch property.kind {
      case .attribute where isLast: return nil
      case .toOne(let relationship) where !isLast:
        entity = context.model.destination(of: relationship)
        entities = entity.indexes(includingSubentities: true)
      case .attribute(let attribute)
      where attribute.type == .composite && attribute.element(at: keys[(place + 1)...]) != nil:
        return nil
      case .attribute: return "it looks into \(key), which is one value to the store"
      case .toOne: return "\(path) is an object"
      case .toMany: return "\(path) leads to several objects"
      }
    }
    return "it names no property"
  }
}
