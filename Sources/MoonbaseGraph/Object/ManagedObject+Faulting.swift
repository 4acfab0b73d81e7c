public import MoonbaseModel

extension ManagedObject {
  /// Reads the object's values from its store if they are not there.
  ///
  /// Throws `GraphError` with `.objectNotFound` if the row is gone, and what the store throws.
  public final func fireFault() throws {
    guard state.contains(.fault) else { return }
    guard let context else { throw gone() }
    if snapshot == nil, let batch {
      self.batch = nil
      try context.loadRows(of: batch.neighbours(of: objectID))
    }
    if snapshot == nil { snapshot = try context.row(of: objectID) }
    state.remove(.fault)
    try wakeUp(in: context)
  }

  /// Whether the values have to be read before they can be used.
  final var needsRow: Bool { state.contains(.fault) && snapshot == nil }

  private func wakeUp(in context: ManagedObjectContext) throws {
    let behavior = try context.behavior(of: entity)
    guard behavior.hasAwakeFromFetch else { return }
    state.insert(.awaking)
    defer { state.remove(.awaking) }
    do {
      for slot in behavior.preCalculatedSlots { _ = try read(slot, behavior) }
      try context.withinHook { awakeFromFetch() }
      for entry in behavior.extensions { try run("awakeFromFetch", entry.awakeFromFetch) }
    } catch {
      state.insert(.fault)
      throw error
    }
  }

  /// Drops the values, so that the next access reads them anew.
  final func turnIntoFault() throws {
    let behavior = try behavior()
    try running("willTurnIntoFault") { willTurnIntoFault() }
    for entry in behavior.extensions { try run("willTurnIntoFault", entry.willTurnIntoFault) }
    snapshot = nil
    dropChanges()
    relationships = [:]
    state.remove(.born)
    state.insert(.fault)
    try running("didTurnIntoFault") { didTurnIntoFault() }
    for entry in behavior.extensions { try run("didTurnIntoFault", entry.didTurnIntoFault) }
  }

  /// Takes newer values of the store in; unsaved changes stay on top.
  final func adopt(_ newer: Snapshot) {
    if !live.isEmpty {
      var values = newer.values
      for slot in changed.slots + entity.transientSlots { values[slot] = live[slot] }
      live = values
    }
    caches = caches.filter { changed.contains($0.key) }
    snapshot = newer
    changeCount &+= 1
  }

  /// Forgets all that differs from the snapshot.
  final func dropChanges() {
    live = []
    changed.removeAll()
    caches = [:]
    delayed = [:]
    changeCount &+= 1
  }

  /// The values of the last save or fetch by name; of the given keys, or of all properties but to-many ones not read.
  public final func committedValues(forKeys keys: [String]? = nil) throws -> [String: Value] {
    let slots = try keys.map { try $0.map(slot(of:)) } ?? entity.attributeSlots + entity.toOneSlots
    if state.contains(.fault) { try fireFault() }
    return Dictionary(uniqueKeysWithValues: slots.map { (entity.properties[$0].name, snapshot?.values[$0] ?? .null) })
  }

  /// The current values of properties that changed since the last save, by name.
  public final func changedValues() throws -> [String: Value] {
    let slots = changed.slots + relationships.filter { $0.value.hasChanges }.keys
    return try Dictionary(uniqueKeysWithValues: slots.map { (entity.properties[$0].name, try value(at: $0)) })
  }
}
