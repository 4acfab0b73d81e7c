import MoonbaseModel

/// Values that the store derived.
extension ManagedObjectContext {
  /// Adopts values that stores derived with a save. The rows keep their versions, so caches must be told to drop them.
  /// Errors are ignored, because the changes are saved.
  func readDerived(_ ids: [ManagedObjectID]) {
    guard !ids.isEmpty else { return }
    source.forgetRows(of: ids)
    tellListeners(of: ids)
    let objects = ids.compactMap { registeredObject(for: $0) }.filter { $0.snapshot != nil }
    do {
      for row in try source.snapshots(of: objects.map(\.objectID)) {
        guard let object = registeredObject(for: row.id) else { continue }
        object.adoptValues(of: row, slots: source.derivedSlots[object.entity.index] ?? [])
      }
    } catch {
      // The changes are saved. An object without changes reads its row at the next access.
      for object in objects where !object.hasChanges { object.becomeFaultForPendingSave() }
    }
  }
}

/// Replacing derived values.
extension ManagedObject {
  /// Replaces some values of the object's row by those of another row. The version of the row stays.
  fileprivate func adoptValues(of row: Snapshot, slots: [Slot]) {
    guard let snapshot else { return }
    var values = ContiguousArray(snapshot.values)
    for slot in slots { values[slot] = row.values[slot] }
    if !values.elementsEqual(snapshot.values) {
      adopt(Snapshot(id: objectID, version: snapshot.version, values: values))
    }
  }
}
