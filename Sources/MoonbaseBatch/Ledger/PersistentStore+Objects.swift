package import MoonbaseGraph
package import MoonbaseModel

extension PersistentStore {
  /// The first entity with objects, and their number; nil for an empty store.
  ///
  /// The objects are counted in one view, so concurrent saves do not matter.
  package func firstObjects(in model: ResolvedModel) throws -> (entity: ResolvedEntity, count: Int)? {
    let view = try beginReading(.view)
    defer { view.end() }
    for entity in entities where !entity.isAbstract {
      let query = try plan(StoreQuery(entity: entity, in: model, includesSubentities: false)).query
      let count = try view.count(matching: query)
      if count > 0 { return (entity, count) }
    }
    return nil
  }
}
