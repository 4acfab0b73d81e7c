package import MoonbaseModel

/// A change of a store's metadata that is committed together with the objects of a save: a batch job notes there what it has done.
package struct MetadataChange: Sendable {
  /// Makes new metadata of what the store has when the save has its turn, without the store's own entries. What it throws fails the save.
  package typealias Body = @Sendable ([String: Value]) throws -> [String: Value]

  let store: any PersistentStore
  package let body: Body

  package init(of store: any PersistentStore, _ body: @escaping Body) {
    (self.store, self.body) = (store, body)
  }
}

extension PersistentStore {
  /// Changes the metadata that is not the store's own, by a save of its own.
  package func change(_ change: MetadataChange) throws {
    var changes = StoreChanges()
    changes.metadataChange = change.body
    try save(changes)
  }
}

extension SaveSession {
  /// Writes changes, and then what becomes of the metadata.
  func writeAll(_ changes: StoreChanges) throws -> [SaveConflict] {
    let conflicts = try write(changes)
    if conflicts.isEmpty, let change = changes.metadataChange { try setMetadata(change(metadata())) }
    return conflicts
  }
}
