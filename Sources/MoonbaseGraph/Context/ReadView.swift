import MoonbaseModel
import MoonbasePlatform

/// One state of each store, as a fetch and what follows it read them: a session of each store, begun when it is asked for first.
///
/// The view of a fetch ends with it. That of a walk is **kept**, and ends when something is saved, given up or refreshed in its context.
/// Rows of a kept view may be older than what others save meanwhile: they stay out of the row cache, but for the view's own.
final class ReadView {
  private let coordinator: PersistentStoreCoordinator
  private let extent: ReadScope
  /// The rows that were read for faults; nil where the view is not kept.
  private let rows: RowCache?
  private var sessions: [(store: any PersistentStore, session: any ReadSession)] = []
  /// Whether a kept view has ended. Any other one begins anew when it is asked again.
  private(set) var isOver = false
  /// The walk that reads in it. A weak reference would cost the walk's every use; the walk clears this when it goes or
  /// has another view.
  unowned(unsafe) var walk: FetchedObjects?

  init(_ coordinator: PersistentStoreCoordinator, extent: ReadScope, isKept: Bool) {
    self.coordinator = coordinator
    self.extent = extent
    rows = isKept ? RowCache(share: 4) : nil
  }

  deinit { end() }

  /// Lets go of the sessions.
  func end() {
    isOver = rows != nil
    if sessions.isEmpty { return }
    if rows == nil { coordinator.rows.leave() }
    for (_, session) in sessions { session.end() }
    sessions = []
  }

  /// Whether what was asked of it so far is one state as long as it is kept: there are stores that cannot keep one.
  var isSteady: Bool { !sessions.isEmpty && sessions.allSatisfy(\.session.isSteady) }

  func session(of store: any PersistentStore) throws -> any ReadSession {
    if let known = sessions.first(where: { $0.store === store }) { return known.session }
    // What is saved from now on is noted: no older row of it is taken into the row cache.
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

  /// A row. One that came after the view is as it is now. What a view keeps is of one state, however old that is.
  func snapshot(of id: ManagedObjectID, within seconds: Double? = nil) throws -> Snapshot? {
    guard let rows else {
      // What was saved since the view began is of another state than all else that is read from it.
      _ = try session(of: id)
      if let known = coordinator.rows.unwritten(id), known.page.isFresh(within: seconds) { return known }
      return try currentSnapshot(of: id)
    }
    if let known = rows[id] { return known }
    guard let found = try session(of: id).snapshot(of: id) else { return try coordinator.snapshot(of: id) }
    rows.take([found])
    return found
  }

  /// A row as the view has it, whatever the row cache holds.
  func currentSnapshot(of id: ManagedObjectID) throws -> Snapshot? {
    guard rows == nil else { return try snapshot(of: id) }
    let found = try session(of: id).snapshot(of: id)
    if let found { coordinator.rows.take([found]) } else { coordinator.rows.remove([id]) }
    return found
  }

  /// Rows; those that are gone are left out.
  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] {
    var result: [Snapshot] = []
    for (store, group) in try coordinator.byStore(ids) {
      var found = try session(of: store).snapshots(of: group)
      (rows ?? coordinator.rows).take(found)
      if rows != nil, found.count < group.count {
        let present = Set(found.map(\.id))
        found += try coordinator.snapshots(of: group.filter { !present.contains($0) })
      }
      result += found
    }
    return result
  }

  func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
    guard let first = ids.first else { return [] }
    let session = try session(of: first)
    var lists = try session.destinations(of: ids, relationship: slot)
    // Of objects that came after the view it knows none.
    guard rows != nil else { return lists }
    let empty = lists.indices.filter { lists[$0].isEmpty }
    if empty.isEmpty { return lists }
    let known = Set(try session.snapshots(of: empty.map { ids[$0] }).map(\.id))
    let later = empty.filter { !known.contains(ids[$0]) }
    let current = try coordinator.destinations(of: later.map { ids[$0] }, relationship: slot)
    for (place, list) in zip(later, current) { lists[place] = list }
    return lists
  }

  /// The same with the rows of the destinations.
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

extension ManagedObjectContext {
  /// So many views are kept: each may be a connection. Of more walks the oldest read what is there when they come to it.
  private static let greatestViewCount = 4

  struct OpenView {
    weak var view: ReadView?
  }

  /// The view that faults read from; nil where they read what is there now.
  var view: ReadView? {
    if let pinnedView { return pinnedView }
    return openViews.isEmpty ? nil : newestView()
  }

  private func newestView() -> ReadView? {
    while let last = openViews.last {
      if let view = last.view, !view.isOver { return view }
      openViews.removeLast()
    }
    return nil
  }

  /// Runs `body`, in which all is read from a view.
  func reading<Result>(in view: ReadView?, _ body: () throws -> Result) rethrows -> Result {
    guard let view else { return try body() }
    let former = pinnedView
    pinnedView = view
    defer { pinnedView = former }
    return try body()
  }

  /// Faults follow the view of a walk from now on, until it ends.
  func follow(_ view: ReadView) {
    openViews.removeAll { $0.view?.isOver ?? true }
    while openViews.count >= Self.greatestViewCount { Self.end(openViews.removeFirst()) }
    openViews.append(OpenView(view: view))
  }

  /// What is read from now on is current.
  func endViews() {
    endLookups()
    if openViews.isEmpty { return }
    let views = openViews
    openViews = []
    for view in views { Self.end(view) }
  }

  private static func end(_ open: OpenView) {
    guard let view = open.view else { return }
    view.walk?.noteRest()
    view.end()
  }
}
