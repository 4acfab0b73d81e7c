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
