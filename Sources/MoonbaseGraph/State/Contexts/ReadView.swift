import MoonbaseModel
import MoonbasePlatform

/// A walk that reads in a view.
protocol ViewedWalk: AnyObject {
  /// Reads the IDs of the remaining objects before the view ends.
  func noteRest()
}

/// A consistent state of each store for a fetch and its follow-up reads, with one lazily begun session per store.
///
/// The view of a fetch ends with the fetch. The view of a walk is kept, and ends when its context saves, discards or
/// refreshes something. Rows of a kept view may be older than other contexts' saves, so they are kept in the view's own
/// cache and not in the coordinator's row cache.
final class ReadView {
  private let coordinator: PersistentStoreCoordinator
  private let extent: ReadScope
  /// The rows that were read for faults; nil if the view is not kept.
  private let rows: RowCache?
  private var sessions: [(store: any PersistentStore, session: any ReadSession)] = []
  /// Whether a kept view has ended. Any other view begins again at its next use.
  private(set) var isOver = false
  /// The walk that reads in the view. Unretained, because a weak reference would slow down the walk's every use; the
  /// walk clears this when it is released or gets another view.
  unowned(unsafe) var walk: (any ViewedWalk)?

  /// Makes a view; with `isKept`, for a walk.
  init(_ coordinator: PersistentStoreCoordinator, extent: ReadScope, isKept: Bool) {
    self.coordinator = coordinator
    self.extent = extent
    rows = isKept ? RowCache(share: 4) : nil
  }

  deinit { end() }

  /// Ends the sessions.
  func end() {
    isOver = rows != nil
    if sessions.isEmpty { return }
    if rows == nil { coordinator.rows.leave() }
    for (_, session) in sessions { session.end() }
    sessions = []
  }

  /// Whether all reads so far belong to one state; some stores cannot provide one.
  var canBeHeldOpen: Bool { !sessions.isEmpty && sessions.allSatisfy(\.session.canBeHeldOpen) }

  /// The session of a store, begun at the first call.
  func session(of store: any PersistentStore) throws -> any ReadSession {
    if let known = sessions.first(where: { $0.store === store }) { return known.session }
    // Saves are recorded from now on, so that no older row enters the row cache.
    if rows == nil, sessions.isEmpty { coordinator.rows.enter() }
    let new: any ReadSession
    do {
      new = try store.beginReading(extent)
    } catch {
      if rows == nil, sessions.isEmpty { coordinator.rows.leave() }
      throw error
    }
    sessions.append((store, new))
    return new
  }

  private func session(of id: ManagedObjectID) throws -> any ReadSession {
    try session(of: coordinator.store(of: id))
  }

  // MARK: Rows

  /// The row with an ID; an object that was inserted after the view began has its current row. A kept view returns one
  /// state, of whatever age.
  func snapshot(of id: ManagedObjectID, within seconds: Double? = nil) throws -> Snapshot? {
    guard let rows else {
      // Begins the session first: a row saved after the view began would belong to another state than the other reads.
      _ = try session(of: id)
      if let known = coordinator.rows.unwritten(id), known.page.isFresh(within: seconds) { return known }
      return try currentSnapshot(of: id)
    }
    if let known = rows[id] { return known }
    guard let found = try session(of: id).snapshot(of: id) else { return try coordinator.snapshot(of: id) }
    rows.add([found])
    return found
  }

  /// The row with an ID as the view's session reads it, ignoring the coordinator's row cache.
  func currentSnapshot(of id: ManagedObjectID) throws -> Snapshot? {
    guard rows == nil else { return try snapshot(of: id) }
    let found = try session(of: id).snapshot(of: id)
    if let found { coordinator.rows.add([found]) } else { coordinator.rows.remove([id]) }
    return found
  }

  /// The rows with some IDs, without missing rows.
  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] {
    var result: [Snapshot] = []
    for (store, group) in try coordinator.byStore(ids) {
      var found = try session(of: store).snapshots(of: group)
      (rows ?? coordinator.rows).add(found)
      if rows != nil, found.count < group.count {
        let present = Set(found.map(\.id))
        found += try coordinator.snapshots(of: group.filter { !present.contains($0) })
      }
      result += found
    }
    return result
  }

  /// The destinations of several objects; current ones for objects that were inserted after the view began.
  func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
    guard let first = ids.first else { return [] }
    let session = try session(of: first)
    var lists = try session.destinations(of: ids, relationship: slot)
    // The view knows no destinations of objects that were inserted after it began.
    guard rows != nil else { return lists }
    let empty = lists.indices.filter { lists[$0].isEmpty }
    if empty.isEmpty { return lists }
    let known = Set(try session.snapshots(of: empty.map { ids[$0] }).map(\.id))
    let later = empty.filter { !known.contains(ids[$0]) }
    let current = try coordinator.destinations(of: later.map { ids[$0] }, relationship: slot)
    for (place, list) in zip(later, current) { lists[place] = list }
    return lists
  }

  /// The destinations of several objects, with the destinations' rows.
  func destinationRows(of ids: [ManagedObjectID], relationship slot: Slot) throws -> DestinationRows {
    guard let first = ids.first else { return DestinationRows() }
    let session = try session(of: first)
    let found = try session.destinationRows(of: ids, relationship: slot)
    let empty = ids.indices.filter(found.isEmpty)
    guard rows != nil, !empty.isEmpty else { return found }
    let known = Set(try session.snapshots(of: empty.map { ids[$0] }).map(\.id))
    let later = empty.filter { !known.contains(ids[$0]) }
    if later.isEmpty { return found }
    let current = try coordinator.destinationRows(of: later.map { ids[$0] }, relationship: slot)
    let places = Dictionary(uniqueKeysWithValues: zip(later, later.indices))
    var result = DestinationRows()
    for owner in ids.indices {
      let (source, place) = places[owner].map { (current, $0) } ?? (found, owner)
      result.append(source.rows(place), of: source.ids(place))
    }
    return result
  }
}
