package import MoonbaseModel

/// A change of a store's metadata, committed together with the objects of a save. A batch job records its progress by
/// it.
package struct MetadataChange: Sendable {
  /// Returns the new metadata for the store's metadata at the time of the save, without the store's own entries. A
  /// thrown error fails the save.
  package typealias Body = @Sendable ([String: Value]) throws -> [String: Value]

  package let store: any PersistentStore
  /// The function that makes the new metadata.
  package let body: Body

  /// Makes a change of the store's metadata by `body`.
  package init(of store: any PersistentStore, _ body: @escaping Body) {
    (self.store, self.body) = (store, body)
  }
}

extension PersistentStore {
  /// Changes the program's metadata of the store, in a save without objects.
  package func change(_ change: MetadataChange) throws {
    var changes = StoreChanges()
    changes.metadataChange = change.body
    try save(changes)
  }
}

extension SaveSession {
  /// Writes changes, then the change of the metadata. Returns conflicts, in which case the metadata is unchanged.
  package func writeAll(_ changes: StoreChanges) throws -> [SaveConflict] {
    let conflicts = try write(changes)
    if conflicts.isEmpty, let change = changes.metadataChange { try setMetadata(change(metadata())) }
    return conflicts
  }
}
