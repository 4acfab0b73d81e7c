import MoonbaseModel

/// Faults that one fetch made and that read their rows in one statement, when the first of them fires.
final class FaultBatch {
  let ids: [ManagedObjectID]

  init(ids: [ManagedObjectID]) { self.ids = ids }
}
