package import MoonbaseModel

extension PersistentStoreCoordinator {
  /// The ID that a user's text names: a URI, or entity and key, such as `Person/12`. Nil if the text names no ID, or if
  /// several stores hold objects of the entity.
  package func managedObjectID(named text: String) -> ManagedObjectID? {
    if let id = managedObjectID(forURIRepresentation: text) { return id }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let key = Int64(parts[1]), key > 0, String(key) == parts[1],
      let entity = model.entity(String(parts[0]))
    else { return nil }
    let ids = persistentStores.filter { $0.entities.contains { $0.index == entity.index } }.compactMap {
      managedObjectID(forURIRepresentation: "x-coredata://\($0.identifier)/\(parts[0])/p\(key)")
    }
    return ids.count == 1 ? ids[0] : nil
  }
}
