import MoonbaseModel

/// The inputs of stored values that another context saved after this context read them.
///
/// Thrown within a save, which then refreshes the inputs and computes again (`SaveOperation.resolve`). Equality shows
/// whether a refresh changed anything.
struct StaleInputs: Error, Equatable {
  /// The IDs of changed rows.
  var rows: [ManagedObjectID] = []
  /// The changed lists, with added and removed destinations.
  var lists: [SaveInputs.List: Set<ManagedObjectID>] = [:]

  /// Whether no input changed.
  var isEmpty: Bool { rows.isEmpty && lists.isEmpty }
}

/// Checking the inputs of stored values.
extension SavePlan {
  /// The number of rows that are checked together.
  private static let pageSize = 4096

  /// The inputs in one store that another context saved. The session of the save keeps other saves from changing the
  /// store meanwhile. Rows that the save itself writes are left out: writing them finds the conflict.
  func staleInputs(in store: UInt32, besides changes: StoreChanges) throws -> StaleInputs {
    guard let inputs = context.derivations.inputs, !inputs.isEmpty else { return StaleInputs() }
    let written = Set(changes.updated.rows.ids).union(changes.deleted.lazy.map(\.id))
    let versions = inputs.versions.filter { $0.key.storeNumber == store && !written.contains($0.key) }
    let lists = inputs.lists.filter { $0.key.owner.storeNumber == store }
    return StaleInputs(rows: try staleRows(among: versions), lists: try staleLists(among: lists))
  }

  /// The IDs whose stored version differs from the given or registered version. A version of nil means that of the
  /// registered object.
  private func staleRows(among versions: [ManagedObjectID: Int64?]) throws -> [ManagedObjectID] {
    var waiting: [ManagedObjectID: Int64] = [:]
    for (id, version) in versions {
      waiting[id] = version ?? context.registered[id]?.takeUnretainedValue().rowVersion
    }
    let ids = waiting.keys.sorted { $0.key < $1.key }
    for start in stride(from: 0, to: ids.count, by: Self.pageSize) {
      for row in try context.source.snapshots(of: Array(ids[start..<min(start + Self.pageSize, ids.count)])) {
        if waiting[row.id] == row.version { waiting[row.id] = nil }
      }
    }
    return waiting.keys.sorted { $0.key < $1.key }
  }

  /// The key by which lists are grouped, since a store reads all lists of one relationship together.
  private struct Kind: Hashable {
    /// The entity of the owners.
    let entity: Symbol
    /// The relationship.
    let slot: Slot
  }

  /// The lists whose stored destinations differ, with the added and removed destinations. The lists of one relationship
  /// take a single request.
  private func staleLists(
    among lists: [SaveInputs.List: ToManyState.Contents]
  ) throws -> [SaveInputs.List: Set<ManagedObjectID>] {
    var stale: [SaveInputs.List: Set<ManagedObjectID>] = [:]
    let groups = Dictionary(grouping: lists) { Kind(entity: $0.key.owner.entitySymbol, slot: $0.key.slot) }
    for (kind, group) in groups {
      let relationship = context.model.entity(kind.entity)?.properties[kind.slot].relationship
      let saved = try context.source.destinations(of: group.map(\.key.owner), relationship: kind.slot)
      for ((list, contents), ids) in zip(group, saved)
      where !contents.isBased(on: ids, inOrder: relationship?.isOrdered == true) {
        stale[list] = contents.base.symmetricDifference(ids)
      }
    }
    return stale
  }
}

/// Refreshing inputs.
extension ManagedObjectContext {
  /// Refreshes inputs that another context saved. Unsaved changes of the objects are kept. Throws errors of the store.
  func include(_ stale: StaleInputs) throws {
    let members = stale.lists.values.joined().filter { id in
      guard let object = registered[id]?.takeUnretainedValue(), !object.isInserted else { return false }
      // An object that the save writes keeps its row, so that the save finds the conflict.
      return !object.isDeleted && !object.isWritten
    }
    try refreshRows(of: Array(Set(stale.rows).union(members)))
    for (list, others) in stale.lists { include(list, others) }
  }

  /// Discards a list, and the inverse lists of added and removed destinations. For a deleted owner, a rule
  /// that only clears the inverse is applied to new destinations of many-to-many relationships. The store reports new
  /// destinations of other rules and relationships as conflicts. Owners that are not registered need nothing.
  private func include(_ list: SaveInputs.List, _ others: Set<ManagedObjectID>) {
    guard let owner = registered[list.owner]?.takeUnretainedValue(),
      let relationship = owner.entity.properties[list.slot].relationship
    else { return }
    let inverse = relationship.isManyToMany ? relationship.inverseSlot : nil
    if owner.isDeleted {
      let rule = relationship.description.deleteRule
      guard inverse != nil, rule.clearsInverse, !rule.requiresSeenDestinations else { return }
      owner.markUnpropagated()
      deletions.toPropagate.append(owner)
    }
    unload(list)
    for id in others { if let inverse { unload(SaveInputs.List(owner: id, slot: inverse)) } }
  }

  /// Discards the contents of a list, so that it is read again. Unsaved changes of the list are kept.
  private func unload(_ list: SaveInputs.List) {
    guard let owner = registered[list.owner]?.takeUnretainedValue(), let known = owner.relationships[list.slot] else {
      return
    }
    owner.unload(known, slot: list.slot)
  }
}
