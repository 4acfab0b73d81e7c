import MoonbaseModel

/// Rows that were read ahead.
struct RowsAhead {
  let rows: RowBatch
  /// The context's number of the time when they were read: as long as it has no other one, they count.
  let number: Int
  /// Weighs what was read with them, for one list keeps the pages of all.
  let weight: SharedWeight?

  /// Those that are to be read anew.
  static var outdated: RowsAhead { RowsAhead(rows: [], number: -1, weight: nil) }
}

/// The bytes of what several things keep together: they weigh as long as one of them is there.
final class SharedWeight {
  private let context: ContextReference
  private let bytes: Int

  init(_ bytes: Int, in context: ManagedObjectContext) {
    (self.context, self.bytes) = (context.reference, bytes)
    context.weigh(bytes)
  }

  deinit { context.context?.weigh(-bytes) }
}

/// The destinations of one to-many relationship of one object.
///
/// Until the relationship is read, only what came and what went since the last save is known: adding ten thousand objects to
/// a relationship does not read it. What came may then be there already, and what went may not; reading sorts that out.
final class ToManyState {
  // As with an object's fields (docs/development.md, "What the compiler is told").

  /// The destinations, if loaded; otherwise the order they are to have, if one was set.
  @exclusivity(unchecked) private(set) var members = MemberList()
  @exclusivity(unchecked) private(set) var isLoaded: Bool
  /// Destinations that came since the last save.
  @exclusivity(unchecked) private(set) var added = MemberList()
  /// Destinations that went since the last save. Of an ordered relationship that was not read they may have come back: then they
  /// stand among those that came too, for they are no longer where they were.
  @exclusivity(unchecked) private(set) var removed = MemberList()
  /// Whether the order changed since the last save.
  @exclusivity(unchecked) private(set) var isReordered = false
  /// The destinations that, beside those that came, stand elsewhere among the others since the last save. Some may be gone
  /// again. Nil where any may stand elsewhere.
  @exclusivity(unchecked) private(set) var moved: Set<ManagedObjectID>? = []
  /// The rows of the destinations that were read ahead, until the first walk over them.
  @exclusivity(unchecked) private(set) var rowsAhead: RowsAhead?
  /// How often, when the destinations were read, the context had been told that others may have moved to other lists unseen.
  @exclusivity(unchecked) private(set) var unseenMoves: UInt32 = 0
  private let isOrdered: Bool

  init(isOrdered: Bool, isLoaded: Bool) {
    self.isOrdered = isOrdered
    self.isLoaded = isLoaded
  }

  /// The bytes of a state without destinations and of its place in an object, by estimate.
  private static let ownWeight = 160

  /// The bytes that so many destinations take, by estimate.
  static func weight(of count: Int) -> Int { count &* 40 }

  /// The bytes that it keeps, by estimate.
  var weight: Int {
    let count = members.count &+ added.count &+ removed.count &+ (moved?.count ?? 0)
    return Self.ownWeight &+ Self.weight(of: count)
  }

  var hasChanges: Bool { isReordered || !added.isEmpty || !removed.isEmpty }

  /// Whether the destinations of a loaded relationship are what its changes made of them.
  var changesAreLoaded: Bool { added.allSatisfy { members.contains($0) } && !removed.contains { members.contains($0) } }

  /// Takes the saved destinations in, and puts what changed meanwhile on top.
  func load(_ saved: [ManagedObjectID], unseenMoves: UInt32) {
    self.unseenMoves = unseenMoves
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

  /// Those of these that came since the last save.
  func added(among ids: Set<ManagedObjectID>) -> [ManagedObjectID] {
    ids.count < added.count ? ids.filter { added.contains($0) } : added.filter(ids.contains)
  }

  /// Keeps the rows of the destinations for the first walk.
  func keep(_ rows: RowsAhead) { rowsAhead = rows }

  /// The first walk begins.
  func dropRowsAhead() { rowsAhead = nil }

  /// Forgets the saved destinations, so that the next access reads them anew; what changed stays, an order that was set too.
  func unload() {
    guard isLoaded else { return }
    if !isReordered { members = MemberList() }
    (isLoaded, rowsAhead) = (false, nil)
  }

  /// Whether anything is known of a destination.
  func knows(_ id: ManagedObjectID) -> Bool { members.contains(id) || added.contains(id) || removed.contains(id) }

  /// The destinations of some of which anything is known.
  func known(among ids: Set<ManagedObjectID>) -> [ManagedObjectID] {
    guard ids.count > members.count + added.count + removed.count else { return ids.filter(knows) }
    return Set([members, added, removed].joined().lazy.filter(ids.contains)).sorted { $0.key < $1.key }
  }

  /// Forgets what changed of a destination, whose row says whether it is one; false where nothing did.
  func forget(_ id: ManagedObjectID) -> Bool {
    let came = added.remove(id, keepingOrder: isOrdered) != nil
    let went = removed.remove(id, keepingOrder: false) != nil
    return came || went
  }

  /// Forgets a destination that is gone; false where nothing was known of it.
  func forgetGone(_ id: ManagedObjectID) -> Bool {
    let wasChange = forget(id)
    return members.remove(id, keepingOrder: isOrdered) != nil || wasChange
  }

  private func arrange(like wanted: MemberList) {
    let known = wanted.filter { members.contains($0) }
    var list = MemberList(unique: known)
    for id in members { list.append(id) }
    members = list
    moved = nil
  }

  func contains(_ id: ManagedObjectID) -> Bool { members.contains(id) }

  func index(of id: ManagedObjectID) -> Int? { members.index(of: id) }

  /// False where the destination was there. An unloaded relationship cannot know and believes the caller.
  func add(_ id: ManagedObjectID) -> Bool {
    if isLoaded, !members.append(id) { return false }
    let wasRemoved = removed.contains(id)
    if wasRemoved, isLoaded || !isOrdered { removed.remove(id, keepingOrder: false) }
    if !(isLoaded && wasRemoved), !added.append(id) { return false }
    if isOrdered, isLoaded, wasRemoved { moved?.insert(id) }
    if isOrdered { isReordered = true }
    return true
  }

  /// False where the destination was not there. An unloaded relationship cannot know and believes the caller.
  func remove(_ id: ManagedObjectID) -> Bool {
    if isLoaded {
      guard members.remove(id, keepingOrder: isOrdered) != nil else { return false }
      if added.remove(id, keepingOrder: isOrdered) == nil { removed.append(id) } else { moved?.remove(id) }
      return true
    }
    let wasAdded = added.remove(id, keepingOrder: isOrdered) != nil
    // One that was never saved need not go from the store.
    let isNews = !id.isTemporaryID && removed.append(id)
    return isNews || wasAdded
  }

  /// Moves a destination of a loaded relationship.
  func move(from old: Int, to new: Int) {
    moved?.insert(members[old])
    members.move(from: old, to: new)
    isReordered = true
  }

  /// Puts the destinations in this order; they must be the same set.
  func reorder(_ ids: [ManagedObjectID]) {
    members = MemberList(unique: ids)
    isReordered = true
    moved = nil
  }

  /// Gives up the order that was set. Added destinations stand at the end. A destination that was removed and added
  /// again returns to its saved place.
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

  /// A state of its own with the same contents.
  func copy() -> ToManyState {
    let copy = ToManyState(isOrdered: isOrdered, isLoaded: isLoaded)
    copy.restore(contents)
    return copy
  }

  /// What a destination is to the relationship, and where it stands.
  struct Step {
    let id: ManagedObjectID
    // Short, for the journal keeps one of each change.
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
    /// Where it stands, as far as that is known.
    var index: Int? { position == Self.nowhere ? nil : Int(position) }
    /// Where it stands among those that came.
    fileprivate var addedIndex: Int? { addedPosition == Self.nowhere ? nil : Int(addedPosition) }
    /// Whether it is a destination; nil where that would have to be read.
    var isMember: Bool? { index != nil || addedIndex != nil ? true : isRemoved || isLoaded ? false : nil }
  }

  func step(of id: ManagedObjectID, slot: Slot) -> Step { Step(id, of: self, slot: slot) }

  /// Whether all destinations are known to stand as they are saved, without reading that.
  var standsAsSaved: Bool { isLoaded && added.isEmpty && removed.isEmpty && moved?.isEmpty == true }

  /// All destinations stand again as they are saved.
  func forgetOrder() {
    isReordered = false
    if added.isEmpty, removed.isEmpty { moved = [] }
  }

  /// Whether all that a step back changes is whether its destination is one.
  func tellsMembership(of step: Step) -> Bool { !isOrdered || step.index == nil || !members.contains(step.id) }

  /// The destination is again what it was, in a relationship that is otherwise as it was right after the change.
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

  /// All that is known.
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

    /// Whether these are the saved destinations that unsaved changes lie on top of.
    func isBased(on saved: [ManagedObjectID], inOrder isOrdered: Bool) -> Bool {
      guard isLoaded else { return true }
      guard isOrdered, !isReordered else { return Set(saved) == base }
      var (added, removed) = (added, removed)
      return Set(saved) == base
        && saved.filter { !removed.contains($0) } == members.filter { !added.contains($0) }
    }

    /// The saved destinations that unsaved changes lie on top of, of a list that was read.
    var base: Set<ManagedObjectID> { Set(members).subtracting(added).union(removed) }

    /// The bytes that it keeps, by estimate, where nothing is shared any more.
    var weight: Int { ToManyState.weight(of: members.count &+ added.count &+ removed.count) }
  }

  var contents: Contents { Contents(of: self) }

  func restore(_ contents: Contents) {
    (members, added, removed) = (contents.members, contents.added, contents.removed)
    (isLoaded, isReordered, moved) = (contents.isLoaded, contents.isReordered, contents.moved)
  }

  // MARK: Saving

  /// What of its order is to be saved, as far as it shows without reading the destinations: nil where all have to say it.
  func changedOrder(id permanent: (ManagedObjectID) -> ManagedObjectID) -> StoreChanges.Order? {
    // Nobody said where those that are not read stand: what came is behind them.
    if !isLoaded, members.isEmpty {
      return .appended(added.map(permanent), returned: Set(added.filter(removed.contains).map(permanent)))
    }
    return movedPositions().map { .stretches(stretches(around: $0, id: permanent)) }
  }

  /// Where those stand that came or stand elsewhere among the others; nil where many do, or any may.
  private func movedPositions() -> [Int]? {
    guard isLoaded, let moved, added.count + moved.count <= members.count / 4 else { return nil }
    let came = added.compactMap { members.index(of: $0) }
    return (came + moved.filter { !added.contains($0) }.compactMap { members.index(of: $0) }).sorted()
  }

  private func stretches(
    around positions: [Int], id permanent: (ManagedObjectID) -> ManagedObjectID
  ) -> [StoreChanges.Stretch] {
    var result: [StoreChanges.Stretch] = []
    // Behind the last one that is in a stretch.
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

  /// Replaces temporary IDs where the relationship itself is not saved.
  func replaceIDs(by permanent: PermanentIDs) {
    func replaced(_ list: MemberList) -> MemberList { MemberList(unique: list.map { permanent[$0] ?? $0 }) }
    (members, added) = (replaced(members), replaced(added))
  }

  /// Whether all that changed is that new objects came, in no order.
  var hasOnlyNewDestinations: Bool { removed.isEmpty && !isReordered && added.allSatisfy(\.isTemporaryID) }

  /// A save of these new objects wrote that they came; nothing but that is saved. They may stand in no order.
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

  /// Replaces temporary IDs, which only those that came have, and forgets what changed: the state is saved.
  func didSave(permanent: PermanentIDs) {
    if added.contains(where: \.isTemporaryID) {
      if added.count > members.count / 4 {
        members = MemberList(unique: members.map { $0.isTemporaryID ? permanent[$0] ?? $0 : $0 })
      } else {
        // A few that came to many cost what they are, not what is there.
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
