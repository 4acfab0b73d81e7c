package import MoonbaseModel
import MoonbasePlatform

/// The history of an in-memory store.
final class InMemoryHistory: StoreHistory {
  private struct Contents {
    var transactions: [PersistentHistoryTransaction] = []
    var lastTransaction: Int64 = 0
    var lastChange: Int64 = 0

    /// The index of the first transaction of an extent, by binary search: repeated requests for the newest transactions
    /// do not scan the older ones.
    func start(of extent: HistoryRange) -> Int {
      guard case .after(let number) = extent else { return 0 }
      var (low, high) = (0, transactions.count)
      while low < high {
        let middle = (low + high) / 2
        if transactions[middle].transactionNumber > number { high = middle } else { low = middle + 1 }
      }
      return low
    }
  }

  private let storeID: String
  private let contents = Lock(Contents())

  init(storeID: String) { self.storeID = storeID }

  /// The estimated number of bytes that changes add to the history. They count as long as the store exists.
  static func weight(of changes: StoreChanges) -> Int {
    192 * (changes.inserted.count + changes.updated.count + changes.deleted.count + changes.links.count)
  }

  func span() -> HistoryBounds {
    contents.withLock { HistoryBounds(first: $0.transactions.first?.transactionNumber, last: $0.lastTransaction) }
  }

  func transactions(
    _ extent: HistoryRange, includingChanges: Bool, limit: Int
  ) throws -> [PersistentHistoryTransaction] {
    let found = contents.withLock { contents in
      let found = contents.transactions[contents.start(of: extent)...].lazy.filter(extent.contains)
      return limit > 0 ? Array(found.prefix(limit)) : Array(found)
    }
    try HostWork.charge(found.count)
    return includingChanges ? found : found.map { $0.with(nil) }
  }

  /// The number of transactions in a range.
  func count(_ extent: HistoryRange) -> Int {
    contents.withLock { $0.transactions.count(where: extent.contains) }
  }

  func delete(_ extent: HistoryRange) {
    contents.withLock { $0.transactions.removeAll(where: extent.contains) }
  }

  /// Records a save before it is applied, while deleted rows are still present.
  func record(
    _ changes: StoreChanges, author: String?, in stored: InMemoryContents
  ) {
    guard !changes.isEmpty else { return }
    let model = stored.model
    // Another context may have deleted the row.
    let deletions = changes.deleted.compactMap { deletion in
      stored.row(of: deletion.id).map { row in (deletion.id, model.entity(of: row.id)?.tombstone(of: row) ?? [:]) }
    }
    let updates = changes.updatedSlots(in: model, isLinked: stored.isLinked)
    if changes.inserted.isEmpty, updates.isEmpty, deletions.isEmpty, changes.metadataChange == nil { return }
    contents.withLock { contents in
      var recorded: [PersistentHistoryChange] = []
      func add(
        _ id: ManagedObjectID, _ type: PersistentHistoryChange.ChangeType, properties: [String] = [],
        tombstone: [String: Value] = [:]
      ) {
        contents.lastChange += 1
        recorded.append(
          PersistentHistoryChange(
            changeID: contents.lastChange, changedObjectID: id, changeType: type, updatedProperties: properties,
            tombstone: tombstone))
      }
      for row in changes.inserted { add(row.id, .insert) }
      for (id, slots) in updates {
        add(
          id, .update,
          properties: model.entity(of: id).map { entity in slots.map { entity.properties[$0].name }.sorted() } ?? [])
      }
      for (id, tombstone) in deletions { add(id, .delete, tombstone: tombstone) }
      contents.lastTransaction += 1
      let process = ProcessInfo.processInfo.processName
      contents.transactions.append(
        PersistentHistoryTransaction(
          transactionNumber: contents.lastTransaction, storeID: storeID, timestamp: Date(), author: author,
          contextName: changes.contextName, bundleID: process, processID: process, changes: recorded))
    }
  }
}

extension ResolvedEntity {
  /// The attribute values that the history keeps of a deleted row.
  fileprivate func tombstone(of row: Snapshot) -> [String: Value] {
    var values: [String: Value] = [:]
    for property in properties where property.attribute?.preservesValueInHistoryOnDeletion == true {
      let value = row.values[property.slot]
      if !value.isNull { values[property.name] = value }
    }
    return values
  }
}

extension StoreChanges {
  /// The updates that a history records for a save: changed rows, and the objects at both ends of added and removed
  /// links, with their changed slots. Inserted and deleted rows are not among them.
  ///
  /// `isLinked` returns whether the store already has a link. Adding a known member again to a list that was not read
  /// is not a change.
  package func updatedSlots(
    in model: ResolvedModel, isLinked: (Links, ManagedObjectID) throws -> Bool
  ) rethrows -> [(ManagedObjectID, Set<Slot>)] {
    var order: [ManagedObjectID] = []
    var slots: [ManagedObjectID: Set<Slot>] = [:]
    for update in updated {
      order.append(update.snapshot.id)
      slots[update.snapshot.id] = Set(update.changedSlots)
    }
    let others = links.isEmpty ? [] : Set(inserted.ids).union(deleted.lazy.map(\.id))
    func note(_ id: ManagedObjectID, _ slot: Slot) {
      if others.contains(id) { return }
      if slots[id] == nil { order.append(id) }
      slots[id, default: []].insert(slot)
    }
    for links in links {
      let isNew = others.contains(links.owner)
      let came = try links.added.filter { id in try isNew || others.contains(id) || !isLinked(links, id) }
      let went = try links.removed.filter { id in try others.contains(id) || isLinked(links, id) }
      if try !came.isEmpty || !went.isEmpty || links.changesOrder(isLinked) { note(links.owner, links.slot) }
      let inverse = model.entity(of: links.owner)?.properties[links.slot].relationship?.inverseSlot
      if let inverse { for id in came + went { note(id, inverse) } }
    }
    return order.map { ($0, slots[$0] ?? []) }
  }
}

extension StoreChanges.Links {
  /// Whether the save may change the order. A destination that is appended but already in the list keeps its place.
  fileprivate func changesOrder(_ isLinked: (Self, ManagedObjectID) throws -> Bool) rethrows -> Bool {
    guard let order else { return false }
    guard case .appended(let ids, let returned) = order else { return true }
    return try ids.contains { id in try returned.contains(id) || !isLinked(self, id) }
  }
}
