import MoonbaseModel

/// Rows of destinations that were read ahead.
struct RowsAhead {
  let rows: RowBatch
  /// The context's `readAheadNumber` at the time of the read; the rows are valid while it is unchanged.
  let number: Int
  /// The weight of all rows read together, because one list keeps the pages of all.
  let weight: SharedWeight?

  /// A placeholder for rows that have to be read again.
  static var outdated: RowsAhead { RowsAhead(rows: [], number: -1, weight: nil) }
}

/// A number of bytes that several lists keep together, counted while one of them exists.
final class SharedWeight {
  private let context: ContextReference
  private let bytes: Int

  /// Adds the bytes to the weight of the context until the instance is released.
  init(_ bytes: Int, in context: ManagedObjectContext) {
    (self.context, self.bytes) = (context.reference, bytes)
    context.weigh(bytes)
  }

  deinit { context.context?.weigh(-bytes) }
}

/// The destinations of one to-many relationship of one object.
///
/// Until the relationship is read, only the destinations added and removed since the last save are known: adding ten
/// thousand objects to a relationship does not read it. An added object may then be a destination already, and a
/// removed object may be none; reading the relationship resolves this.
package final class ToManyState {
  // As with the fields of objects (docs/development.md, "What the compiler is told").

  /// The destinations if loaded; otherwise their wanted order, if an order was set.
  @exclusivity(unchecked) private(set) var members = MemberList()
  @exclusivity(unchecked) private(set) var isLoaded: Bool
  /// Destinations added since the last save.
  @exclusivity(unchecked) private(set) var added = MemberList()
  /// Destinations removed since the last save. In an unread ordered relationship, a destination that was removed and
  /// added again is listed in `added`, too, because its position changed.
  @exclusivity(unchecked) private(set) var removed = MemberList()
  /// Whether the order changed since the last save.
  @exclusivity(unchecked) private(set) var isReordered = false
  /// Destinations whose position among the others changed since the last save, except those in `added`. Some may have
  /// been removed. Nil if any may have moved.
  @exclusivity(unchecked) private(set) var moved: Set<ManagedObjectID>? = []
  /// The rows of the destinations that were read ahead, until the first walk over them.
  @exclusivity(unchecked) private(set) var rowsAhead: RowsAhead?
  /// The context's `untrackedMoves` when the destinations were read.
  @exclusivity(unchecked) private(set) var untrackedMoves: UInt32 = 0
  private let isOrdered: Bool

  /// Makes a state without destinations; `isLoaded` says whether there are none in the store either.
  init(isOrdered: Bool, isLoaded: Bool) {
    self.isOrdered = isOrdered
    self.isLoaded = isLoaded
  }

  /// An estimate of the bytes of a state without destinations, with its place in an object.
  private static let ownWeight = 160

  /// An estimate of the bytes of some destinations.
  static func weight(of count: Int) -> Int { count &* 40 }

  /// An estimate of the bytes of the state.
  var weight: Int {
    let count = members.count &+ added.count &+ removed.count &+ (moved?.count ?? 0)
    return Self.ownWeight &+ Self.weight(of: count)
  }

  /// Whether destinations were added, removed or moved since the last save.
  package var hasChanges: Bool { isReordered || !added.isEmpty || !removed.isEmpty }

  /// Whether a loaded relationship's destinations agree with its changes.
  var changesAreLoaded: Bool { added.allSatisfy { members.contains($0) } && !removed.contains { members.contains($0) } }

  /// Sets the saved destinations, and applies the unsaved changes to them.
  func load(_ saved: [ManagedObjectID], untrackedMoves: UInt32) {
    self.untrackedMoves = untrackedMoves
    let wanted = members
    members = MemberList(unique: saved)
    removed = MemberList(unique: removed.filter { members.remove($0, keepingOrder: isOrdered) != nil })
    added = MemberList(unique: added.filter { members.append($0) })
    for id in removed.filter(added.contains) {
      removed.remove(id, keepingOrder: false)
      added.remove(id, keepingOrder: true)
      moved?.insert(id)
    }
    if !wanted.isEmpty { arrange(like: wanted) }
    isLoaded = true
  }

  /// The given destinations that were added since the last save.
  func added(among ids: Set<ManagedObjectID>) -> [ManagedObjectID] {
    ids.count < added.count ? ids.filter { added.contains($0) } : added.filter(ids.contains)
  }

  /// Keeps the rows of the destinations for the first walk.
  func keep(_ rows: RowsAhead) { rowsAhead = rows }

  /// Releases the rows of the destinations; called when the first walk begins.
  func dropRowsAhead() { rowsAhead = nil }

  /// Forgets the saved destinations, so that the next access reads them again. Changes stay, including an order that
  /// was set.
  func unload() {
    guard isLoaded else { return }
    if !isReordered { members = MemberList() }
    (isLoaded, rowsAhead) = (false, nil)
  }

  /// Whether a destination occurs in any of the lists.
  func knows(_ id: ManagedObjectID) -> Bool { members.contains(id) || added.contains(id) || removed.contains(id) }

  /// The given destinations that occur in any of the lists.
  func known(among ids: Set<ManagedObjectID>) -> [ManagedObjectID] {
    guard ids.count > members.count + added.count + removed.count else { return ids.filter(knows) }
    return Set([members, added, removed].joined().lazy.filter(ids.contains)).sorted { $0.key < $1.key }
  }

  /// Forgets the change of a destination, whose row determines the membership; false if there was none.
  func forget(_ id: ManagedObjectID) -> Bool {
    let came = added.remove(id, keepingOrder: isOrdered) != nil
    let went = removed.remove(id, keepingOrder: false) != nil
    return came || went
  }

  /// Forgets a destination that is gone; false if it did not occur.
  func forgetGone(_ id: ManagedObjectID) -> Bool {
    let wasChange = forget(id)
    return members.remove(id, keepingOrder: isOrdered) != nil || wasChange
  }

  /// Sorts the destinations like a wanted order, with the remaining ones at the end.
  private func arrange(like wanted: MemberList) {
    let known = wanted.filter { members.contains($0) }
    var list = MemberList(unique: known)
    for id in members { list.append(id) }
    members = list
    moved = nil
  }

  /// Whether an object is among the loaded destinations.
  func contains(_ id: ManagedObjectID) -> Bool { members.contains(id) }

  /// The position among the loaded destinations.
  func index(of id: ManagedObjectID) -> Int? { members.index(of: id) }

  /// Adds a destination; false if it was one. An unloaded relationship assumes that it was none.
  func add(_ id: ManagedObjectID) -> Bool {
    if isLoaded, !members.append(id) { return false }
    let wasRemoved = removed.contains(id)
    if wasRemoved, isLoaded || !isOrdered { removed.remove(id, keepingOrder: false) }
    if !(isLoaded && wasRemoved), !added.append(id) { return false }
    if isOrdered, isLoaded, wasRemoved { moved?.insert(id) }
    if isOrdered { isReordered = true }
    return true
  }

  /// Removes a destination; false if it was none. An unloaded relationship assumes that it was one.
  func remove(_ id: ManagedObjectID) -> Bool {
    if isLoaded {
      guard members.remove(id, keepingOrder: isOrdered) != nil else { return false }
      if added.remove(id, keepingOrder: isOrdered) == nil { removed.append(id) } else { moved?.remove(id) }
      return true
    }
    let wasAdded = added.remove(id, keepingOrder: isOrdered) != nil
    // A destination that was never saved need not be removed from the store.
    let isNews = !id.isTemporaryID && removed.append(id)
    return isNews || wasAdded
  }

  /// Moves a destination of a loaded relationship.
  func move(from old: Int, to new: Int) {
    moved?.insert(members[old])
    members.move(from: old, to: new)
    isReordered = true
  }

  /// Sets the order of the destinations, which must be the same set.
  func reorder(_ ids: [ManagedObjectID]) {
    members = MemberList(unique: ids)
    isReordered = true
    moved = nil
  }

  /// Discards the order that was set. Added destinations are placed at the end. A destination that was removed and
  /// added again returns to its saved position.
  func giveUpOrder() {
    for id in removed.filter({ added.contains($0) }) {
      removed.remove(id, keepingOrder: false)
      added.remove(id, keepingOrder: true)
    }
    (members, isLoaded, rowsAhead) = (MemberList(), false, nil)
    (isReordered, moved) = (isOrdered && !added.isEmpty, [])
  }

  /// Whether another state has the same destinations, in the same order if the relationship is ordered.
  func isSame(as other: ToManyState) -> Bool {
    guard isLoaded == other.isLoaded else { return false }
    if isLoaded { return isSame(members, other.members) }
    return isSame(added, other.added) && isSame(removed, other.removed) && isSame(members, other.members)
  }

  private func isSame(_ left: MemberList, _ right: MemberList) -> Bool {
    guard left.count == right.count else { return false }
    var right = right
    return isOrdered ? left.elementsEqual(right) : left.allSatisfy { right.contains($0) }
  }

  // MARK: Undoing

  /// A separate state with the same contents.
  func copy() -> ToManyState {
    let copy = ToManyState(isOrdered: isOrdered, isLoaded: isLoaded)
    copy.restore(contents)
    return copy
  }

  /// The membership and position of a destination, recorded before a change.
  struct Step {
    let id: ManagedObjectID
    // Short types, because the journal keeps a step for each change.
    private let position, addedPosition, shortSlot: Int32
    fileprivate let isRemoved, isLoaded: Bool
    let isReordered: Bool
    private static let nowhere: Int32 = -1

    fileprivate init(_ id: ManagedObjectID, of state: ToManyState, slot: Slot) {
      self.id = id
      position = state.members.index(of: id).map(Int32.init) ?? Self.nowhere
      addedPosition = state.added.index(of: id).map(Int32.init) ?? Self.nowhere
      shortSlot = Int32(slot)
      (isRemoved, isLoaded) = (state.removed.contains(id), state.isLoaded)
      isReordered = state.isReordered
    }

    var slot: Slot { Int(shortSlot) }
    /// The position among the destinations, if known.
    var index: Int? { position == Self.nowhere ? nil : Int(position) }
    /// The position among the added destinations, if any.
    fileprivate var addedIndex: Int? { addedPosition == Self.nowhere ? nil : Int(addedPosition) }
    /// Whether the object is a destination; nil if the relationship would have to be read.
    var isMember: Bool? { index != nil || addedIndex != nil ? true : isRemoved || isLoaded ? false : nil }
  }

  /// The current membership and position of a destination.
  func step(of id: ManagedObjectID, slot: Slot) -> Step { Step(id, of: self, slot: slot) }

  /// Whether all destinations are known to have their saved positions, without reading.
  var standsAsSaved: Bool { isLoaded && added.isEmpty && removed.isEmpty && moved?.isEmpty == true }

  /// Records that all destinations have their saved positions.
  func forgetOrder() {
    isReordered = false
    if added.isEmpty, removed.isEmpty { moved = [] }
  }

  /// Whether restoring a step changes only the membership of its destination.
  func tellsMembership(of step: Step) -> Bool { !isOrdered || step.index == nil || !members.contains(step.id) }

  /// Restores the former membership of a destination. Otherwise the state must be as right after the change.
  func restore(_ step: Step) {
    restore(step.id, to: step.index, in: \.members)
    restore(step.id, to: step.addedIndex, in: \.added)
    if step.isRemoved { removed.append(step.id) } else { removed.remove(step.id, keepingOrder: false) }
    isReordered = step.isReordered
  }

  private func restore(
    _ id: ManagedObjectID, to position: Int?, in list: ReferenceWritableKeyPath<ToManyState, MemberList>
  ) {
    guard let position else { return _ = self[keyPath: list].remove(id, keepingOrder: isOrdered) }
    self[keyPath: list].append(id)
    guard isOrdered, let now = self[keyPath: list].index(of: id), now != position else { return }
    self[keyPath: list].move(from: now, to: Swift.min(position, self[keyPath: list].count - 1))
  }

  /// All contents of a state.
  final class Contents {
    fileprivate let members, added, removed: MemberList
    let isLoaded: Bool
    let isReordered: Bool
    fileprivate let moved: Set<ManagedObjectID>?
    var memberIDs: [ManagedObjectID] { Array(members) }

    fileprivate init(of state: ToManyState) {
      (members, added, removed) = (state.members, state.added, state.removed)
      (isLoaded, isReordered, moved) = (state.isLoaded, state.isReordered, state.moved)
    }

    /// Whether the unsaved changes are based on these saved destinations.
    func isBased(on saved: [ManagedObjectID], inOrder isOrdered: Bool) -> Bool {
      guard isLoaded else { return true }
      guard isOrdered, !isReordered else { return Set(saved) == base }
      var (added, removed) = (added, removed)
      return Set(saved) == base
        && saved.filter { !removed.contains($0) } == members.filter { !added.contains($0) }
    }

    /// The saved destinations on which the unsaved changes of a loaded list are based.
    var base: Set<ManagedObjectID> { Set(members).subtracting(added).union(removed) }

    /// An estimate of the bytes, if they are not shared with other copies.
    var weight: Int { ToManyState.weight(of: members.count &+ added.count &+ removed.count) }
  }

  /// A copy of all contents.
  var contents: Contents { Contents(of: self) }

  /// Replaces all contents by a former copy.
  func restore(_ contents: Contents) {
    (members, added, removed) = (contents.members, contents.added, contents.removed)
    (isLoaded, isReordered, moved) = (contents.isLoaded, contents.isReordered, contents.moved)
  }

  // MARK: Saving

  /// The change of order to save, as far as it is known without reading the destinations; nil if all positions are
  /// needed.
  func changedOrder(id permanent: (ManagedObjectID) -> ManagedObjectID) -> StoreChanges.Order? {
    // Without an explicit order, added destinations are placed behind all unread ones.
    if !isLoaded, members.isEmpty {
      return .appended(added.map(permanent), returned: Set(added.filter(removed.contains).map(permanent)))
    }
    return movedPositions().map { .stretches(stretches(around: $0, id: permanent)) }
  }

  /// The positions of added and moved destinations; nil if these are many or unknown.
  private func movedPositions() -> [Int]? {
    guard isLoaded, let moved, added.count + moved.count <= members.count / 4 else { return nil }
    let came = added.compactMap { members.index(of: $0) }
    return (came + moved.filter { !added.contains($0) }.compactMap { members.index(of: $0) }).sorted()
  }

  /// The stretches of the list around changed positions, as a save needs them.
  private func stretches(
    around positions: [Int], id permanent: (ManagedObjectID) -> ManagedObjectID
  ) -> [StoreChanges.Stretch] {
    var result: [StoreChanges.Stretch] = []
    // The position behind the last stretch.
    var end = 0
    for position in positions {
      let start = Swift.max(0, position - StoreChanges.Stretch.margin)
      if result.isEmpty || start > end {
        result.append(StoreChanges.Stretch(ids: [], moved: []))
        end = start
      }
      let last = result.count - 1
      result[last].moved.append(result[last].ids.count + position - end)
      let next = Swift.min(members.count, position + StoreChanges.Stretch.margin + 1)
      for place in end..<next { result[last].ids.append(permanent(members[place])) }
      end = next
    }
    return result
  }

  /// Replaces temporary IDs if the relationship itself is not saved.
  func replaceIDs(by permanent: PermanentIDs) {
    func replaced(_ list: MemberList) -> MemberList { MemberList(unique: list.map { permanent[$0] ?? $0 }) }
    (members, added) = (replaced(members), replaced(added))
  }

  /// Whether the only changes are additions of new objects, in no order.
  var hasOnlyNewDestinations: Bool { removed.isEmpty && !isReordered && added.allSatisfy(\.isTemporaryID) }

  /// Records that a save wrote the addition of new objects, and no other change. Their order is irrelevant.
  func didSave(only permanent: PermanentIDs) {
    var rest: [ManagedObjectID] = []
    for id in added {
      guard let new = permanent[id] else {
        rest.append(id)
        continue
      }
      if isLoaded { members.replace(id, by: new) }
    }
    if rest.count < added.count { added = MemberList(unique: rest) }
  }

  /// Records that the state is saved: replaces temporary IDs, which only added destinations have, and forgets the
  /// changes.
  func didSave(permanent: PermanentIDs) {
    if added.contains(where: \.isTemporaryID) {
      if added.count > members.count / 4 {
        members = MemberList(unique: members.map { $0.isTemporaryID ? permanent[$0] ?? $0 : $0 })
      } else {
        // The cost of replacing few IDs depends on their number, not on the number of all destinations.
        for id in added where id.isTemporaryID {
          if let new = permanent[id] { members.replace(id, by: new) }
        }
      }
    }
    if !isLoaded { members = MemberList() }
    added = MemberList()
    removed = MemberList()
    isReordered = false
    moved = []
  }
}
