import MoonbaseModel

/// The objects whose counts a save changes: the store keeps these, and contexts read them when the save is done.
struct CountedOwners {
  private let counted: CountedRelationships
  private var ids: Set<ManagedObjectID> = []

  /// Notes whom the changed objects pointed at before; nil where stores keep no counts.
  init?(before context: ManagedObjectContext) {
    counted = context.source.counts
    guard !counted.counts.isEmpty else { return nil }
    note(context.changedObjects)
  }

  private mutating func note(_ objects: some Sequence<ManagedObject>) {
    for object in objects {
      for slot in counted.pointers[object.entity.index] ?? [] {
        if case .objectID(let id) = object.snapshot?.values[slot] { ids.insert(id) }
      }
    }
  }

  /// Takes the counts of the store over. The rows are of the same version as before: no cache knows by itself.
  func readCounts(after saved: [ManagedObject], in context: ManagedObjectContext) {
    var all = self
    all.note(saved)
    for object in saved where counted.counts[object.entity.index] != nil { all.ids.insert(object.objectID) }
    context.source.forgetRows(of: Array(all.ids))
    let owners = all.ids.compactMap { context.registeredObject(for: $0) }.filter { $0.snapshot != nil }
    do {
      for row in try context.source.snapshots(of: owners.map(\.objectID)) {
        context.registeredObject(for: row.id)?.adoptCounts(of: row, counts: counted.counts)
      }
    } catch {
      // What was written is saved. Who has nothing to lose reads the row at its next access.
      for owner in owners where !owner.hasChanges { owner.becomeFaultSilently() }
    }
  }
}

extension ManagedObject {
  fileprivate func adoptCounts(of row: Snapshot, counts: [EntityIndex: [Slot]]) {
    guard let snapshot else { return }
    var values = ContiguousArray(snapshot.values)
    for slot in counts[entity.index] ?? [] { values[slot] = row.values[slot] }
    if !values.elementsEqual(snapshot.values) {
      adopt(Snapshot(id: objectID, version: snapshot.version, values: values))
    }
  }
}
