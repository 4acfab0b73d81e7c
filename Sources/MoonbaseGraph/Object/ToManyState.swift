import MoonbaseModel

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
    Self.ownWeight &+ Self.weight(of: members.count &+ added.count &+ removed.count &+ (moved?.count ?? 0))
  }

  var hasChanges: Bool { isReordered || !added.isEmpty || !removed.isEmpty }

  /// Takes the saved destinations in, and puts what changed meanwhile on top.
  func load(_ saved: [ManagedObjectID]) {
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

  /// Forgets the saved destinations, so that the next access reads them anew; what changed stays, an order that was set too.
  func unload() {
    guard isLoaded else { return }
    if !isReordered { members = MemberList() }
    isLoaded = false
  }

  /// Forgets what is known of a destination, whose row says whether it is one.
  func forget(_ id: ManagedObjectID) {
    let wasChange =
      added.remove(id, keepingOrder: isOrdered) != nil || removed.remove(id, keepingOrder: false) != nil
    if wasChange || members.contains(id) { unload() }
  }

  /// Forgets destinations that are gone.
  func forgetGone(_ gone: Set<ManagedObjectID>) {
    func isThere(_ id: ManagedObjectID) -> Bool { !gone.contains(id) }
    if !members.allSatisfy(isThere) { members = MemberList(unique: members.filter(isThere)) }
    if !added.allSatisfy(isThere) { added = MemberList(unique: added.filter(isThere)) }
    if !removed.allSatisfy(isThere) { removed = MemberList(unique: removed.filter(isThere)) }
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

  /// Returns what the destination was to the relationship, nil where it was there. An unloaded relationship cannot know and
  /// believes the caller.
  func add(_ id: ManagedObjectID) -> Step? {
    let position = isLoaded ? nil : members.index(of: id)
    if isLoaded, !members.append(id) { return nil }
    let wasRemoved = removed.contains(id)
    if wasRemoved, isLoaded || !isOrdered { removed.remove(id, keepingOrder: false) }
    if !(isLoaded && wasRemoved), !added.append(id) { return nil }
    if isOrdered, isLoaded, wasRemoved { moved?.insert(id) }
    defer { if isOrdered { isReordered = true } }
    return step(id, position: position, addedPosition: nil, wasRemoved: wasRemoved)
  }

  /// Returns what the destination was to the relationship, nil where it was not there. An unloaded relationship cannot know and
  /// believes the caller.
  func remove(_ id: ManagedObjectID) -> Step? {
    if isLoaded {
      guard let position = members.remove(id, keepingOrder: isOrdered) else { return nil }
      let addedPosition = added.remove(id, keepingOrder: isOrdered)
      if addedPosition == nil { removed.append(id) }
      return step(id, position: position, addedPosition: addedPosition, wasRemoved: false)
    }
    let wasRemoved = removed.contains(id)
    let addedPosition = added.remove(id, keepingOrder: isOrdered)
    // One that was never saved need not go from the store.
    let isNews = !id.isTemporaryID && removed.append(id)
    guard isNews || addedPosition != nil else { return nil }
    return step(id, position: members.index(of: id), addedPosition: addedPosition, wasRemoved: wasRemoved)
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

  // MARK: Undoing

  /// What a destination was to the relationship.
  struct Step {
    fileprivate let id: ManagedObjectID
    fileprivate let position, addedPosition: Int?
    fileprivate let wasLoaded, wasRemoved, wasReordered: Bool
  }

  private func step(_ id: ManagedObjectID, position: Int?, addedPosition: Int?, wasRemoved: Bool) -> Step {
    Step(
      id: id, position: position, addedPosition: addedPosition, wasLoaded: isLoaded, wasRemoved: wasRemoved,
      wasReordered: isReordered)
  }

  /// The destination is again what it was.
  func undo(_ step: Step) {
    if let position = step.addedPosition {
      added.append(step.id)
      added.move(from: added.count - 1, to: Swift.min(position, added.count - 1))
    } else {
      added.remove(step.id, keepingOrder: isOrdered)
    }
    if step.wasRemoved { removed.append(step.id) } else { removed.remove(step.id, keepingOrder: false) }
    isReordered = step.wasReordered
    if isLoaded, !step.wasLoaded { return unload() }
    guard let position = step.position else { return _ = members.remove(step.id, keepingOrder: isOrdered) }
    guard members.append(step.id), isOrdered else { return }
    members.move(from: members.count - 1, to: Swift.min(position, members.count - 1))
  }

  /// What a change of the order undoes.
  struct Order {
    fileprivate enum Former {
      case place(ManagedObjectID, Int)
      case list(MemberList)
    }

    fileprivate let former: Former
    fileprivate let wasReordered: Bool

    /// The bytes that it keeps, by estimate.
    var weight: Int { if case .list(let list) = former { ToManyState.weight(of: list.count) } else { 0 } }
  }

  /// The order before one destination moves.
  func orderBeforeMove(from position: Int) -> Order {
    Order(former: .place(members[position], position), wasReordered: isReordered)
  }

  /// The order before all may stand elsewhere.
  var order: Order { Order(former: .list(members), wasReordered: isReordered) }

  func undo(_ order: Order) {
    switch order.former {
    case .place(let id, let position):
      if let now = members.index(of: id) { members.move(from: now, to: Swift.min(position, members.count - 1)) }
    case .list(let list): members = list
    }
    isReordered = order.wasReordered
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

  /// Replaces temporary IDs, which only those that came have, and forgets what changed: the state is saved.
  func didSave(permanent: [ManagedObjectID: ManagedObjectID]) {
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
