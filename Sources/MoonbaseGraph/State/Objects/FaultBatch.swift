import MoonbaseModel

/// Faults from one fetch, whose rows are read in one statement when the first of them fires.
final class FaultBatch {
  let ids: [ManagedObjectID]

  init(ids: [ManagedObjectID]) { self.ids = ids }
}
