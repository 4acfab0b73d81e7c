public import MoonbaseModel
import MoonbasePlatform

/// What is asked of a session that reads.
public enum ReadScope: Sendable {
  /// One call, or one cursor that is read to its end: the session need not do anything to see one state.
  case oneCall
  /// Several calls, all of which see one state.
  case view
}

/// One state of a store, as it is read: a fetch, its pages, its prefetched rows and the faults that follow see the same data,
/// whatever is saved meanwhile.
///
/// It ends when it is told to, or goes. Several threads may use it; a call waits for the one before it.
///
/// ```swift
/// let session = try store.beginReading(.view)
/// defer { session.end() }
/// let rows = try session.rows(matching: query)
/// while case let page = try rows.next(upTo: 512), !page.isEmpty {
///   let owners = try session.destinations(of: page.map(\.id), relationship: slot)
/// }
/// ```
///
/// Errors: `GraphError` with `.storeBusy`, `.storeFailure`, `.invalidStore` and others.
public protocol ReadSession: AnyObject, Sendable {
  /// Whether all its calls see one state, and nobody has to wait for its end, so that it may be kept. Where not, each call sees the state of
  /// its own moment.
  var isSteady: Bool { get }
  /// Whether all its calls see one state, be it that somebody has to wait for its end.
  var seesOneState: Bool { get }

  /// The rows that match, to be read some at a time.
  func rows(matching query: StoreQuery) throws -> any RowCursor
  /// The rows that match.
  func snapshots(matching query: StoreQuery) throws -> [Snapshot]
  /// The IDs of the rows that match, to be read some at a time.
  func ids(matching query: StoreQuery) throws -> any IDCursor
  /// How many rows match.
  func count(matching query: StoreQuery) throws -> Int
  /// The query's `columns`, a row of values for each object or group, to be read some at a time. A store that hands the plans of another
  /// one on hands this on, too.
  func values(matching query: StoreQuery) throws -> any RowCursor

  /// The row of an object; nil if there is none (any more).
  func snapshot(of id: ManagedObjectID) throws -> Snapshot?
  /// The rows of several objects in any order; objects without a row are left out.
  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot]
  /// The destinations of a to-many relationship, in order where it is ordered. Of a one-to-one relationship the objects whose rows
  /// lead here by its other side, whatever the row of this one says.
  func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID]
  /// The same of a relationship of several objects of one entity, in the order of `ids`.
  func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]]
  /// The same with the rows of the destinations, as far as there are any: what is read ahead.
  func destinationRows(of ids: [ManagedObjectID], relationship slot: Slot) throws -> DestinationRows

  /// Lets go of what it holds. Its cursors can be read no further, and no call may follow; a second end does nothing.
  func end()
}

extension ReadSession {
  /// That it may be kept says so.
  public var seesOneState: Bool { isSteady }

  /// Reads them page by page.
  public func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    let cursor = try rows(matching: query)
    var result: [Snapshot] = []
    while case let page = try cursor.next(upTo: RowPage.capacity), !page.isEmpty { result += page }
    return result
  }

  /// Those of rows that are read and let go.
  public func ids(matching query: StoreQuery) throws -> any IDCursor { RowIDCursor(try rows(matching: query)) }

  /// Those of rows that are read and let go, as far as it takes nothing else (`QueryColumns.reasonAgainstRows`).
  public func values(matching query: StoreQuery) throws -> any RowCursor {
    var rows = query
    rows.columns = nil
    let columns = query.columns ?? QueryColumns([])
    if columns.isGrouped { (rows.limit, rows.offset) = (0, 0) }
    return try ColumnsOfRows(columns, of: query, self.rows(matching: rows))
  }

  /// The IDs of the rows that match, read page by page.
  public func objectIDs(matching query: StoreQuery) throws -> IDList { try ids(matching: query).remainingIDs() }

  /// Asks for one object after the other.
  public func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
    try ids.map { try destinations(of: $0, relationship: slot) }
  }

  /// Asks for the destinations, and then for their rows.
  public func destinationRows(of ids: [ManagedObjectID], relationship slot: Slot) throws -> DestinationRows {
    let lists = try destinations(of: ids, relationship: slot)
    let rows = try snapshots(of: Array(Set(lists.joined())))
    let byID = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
    var result = DestinationRows()
    for list in lists { result.append(list.compactMap { byID[$0] }, of: list) }
    return result
  }
}

/// The destinations of a to-many relationship of several objects, with their rows.
public struct DestinationRows: Sendable {
  /// The rows of all destinations, those of one owner together and in order.
  package private(set) var rows = RowBatch()
  /// By owner: where the rows of its destinations are.
  package private(set) var ranges: [Range<Int>] = []
  /// By owner: the IDs of its destinations, where some have no row; empty otherwise.
  private var incomplete: [Int: [ManagedObjectID]] = [:]

  /// Of no owners yet.
  public init() {}

  /// The rows owner by owner, whichever comes first; `ranges` says of each owner where its own are.
  package init(_ rows: RowBatch, ranges: [Range<Int>]) { (self.rows, self.ranges) = (rows, ranges) }

  /// Adds the next owner with its destinations, and the rows of these that there are, in order.
  public mutating func append(_ rows: [Snapshot], of ids: [ManagedObjectID]) {
    append(RowBatch(rows), of: ids)
  }

  mutating func append(_ rows: RowBatch, of ids: [ManagedObjectID]) {
    if rows.count != ids.count { incomplete[ranges.count] = ids }
    ranges.append(self.rows.count..<self.rows.count + rows.count)
    self.rows.append(rows)
  }

  /// The rows of an owner's destinations.
  func rows(_ owner: Int) -> RowBatch { rows.rows(ranges[owner]) }

  /// Whether an owner has no destinations.
  func isEmpty(_ owner: Int) -> Bool { incomplete[owner]?.isEmpty ?? ranges[owner].isEmpty }

  /// The destinations of an owner.
  package func ids(_ owner: Int) -> [ManagedObjectID] { incomplete[owner] ?? rows(owner).ids }
}

/// The rows of a query in their order, read some at a time.
///
/// Several threads may use it, one after the other.
public protocol RowCursor: AnyObject, Sendable {
  /// The next rows: up to so many, fewer where they are heavy; none at the end.
  func next(upTo count: Int) throws -> RowBatch
  /// The IDs of all rows that are still to come, which are not read any more.
  func remainingIDs() throws -> IDList
}

extension RowCursor {
  /// Reads the rows.
  public func remainingIDs() throws -> IDList { try RowIDCursor(self).remainingIDs() }
}

/// The IDs of a query's rows in their order, read some at a time: keys without rows.
///
/// Several threads may use it, one after the other.
public protocol IDCursor: AnyObject, Sendable {
  /// The next IDs: up to so many; none at the end.
  func next(upTo count: Int) throws -> IDList
}

extension IDCursor {
  /// All IDs that are still to come.
  public func remainingIDs() throws -> IDList {
    var result = IDList()
    var memory = HostMemory()
    while case let page = try next(upTo: IDList.pageSize), !page.isEmpty {
      // A list that grows has up to twice the room.
      try memory.hold(2 * page.weight)
      result.append(contentsOf: page)
    }
    return result
  }
}

extension IDList {
  /// So many IDs come at a time where somebody wants them all.
  package static let pageSize = 8 * RowPage.capacity
}

/// The IDs of the rows of another cursor.
private final class RowIDCursor: IDCursor {
  private let rows: any RowCursor

  init(_ rows: any RowCursor) { self.rows = rows }

  func next(upTo count: Int) throws -> IDList {
    IDList(try rows.next(upTo: Swift.min(count, RowPage.capacity)).lazy.map(\.id))
  }
}

/// A cursor over IDs that are here.
package final class IDListCursor: IDCursor {
  private let rest: Lock<Slice<IDList>>

  /// Makes a cursor over IDs.
  package init(_ ids: IDList) { rest = Lock(ids[...]) }

  package func next(upTo count: Int) -> IDList {
    rest.withLock { rest in
      defer { rest = rest.dropFirst(count) }
      return IDList(rest.prefix(count))
    }
  }
}

/// A cursor over rows that are here.
public final class RowList: RowCursor {
  private struct State {
    var rows: [Snapshot]
    /// How many were handed out: they are let go some at a time, so that none is moved more than once or twice.
    var used = 0
  }

  private let state: Lock<State>

  /// Makes a cursor over rows.
  public init(_ rows: [Snapshot]) { state = Lock(State(rows: rows)) }

  public func next(upTo count: Int) -> RowBatch {
    state.withLock { state in
      let page = RowBatch(state.rows[state.used...].prefix(count))
      state.used += page.count
      if 2 * state.used >= state.rows.count {
        state.rows.removeFirst(state.used)
        state.used = 0
      }
      return page
    }
  }
}

/// What is asked once: each call has a session of its own.
extension PersistentStore {
  /// Begins reading several things of one state.
  public func beginReading() throws -> any ReadSession { try beginReading(.view) }

  /// The rows that match.
  public func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    try reading { try $0.snapshots(matching: query) }
  }

  /// Hands the rows that match to `body`, some at a time, until it returns false: rows of one state of the store, which
  /// are not held all at once. `body` may read the store.
  public func forEachBatch(matching query: StoreQuery, _ body: (RowBatch) throws -> Bool) throws {
    try reading { session in
      let cursor = try session.rows(matching: query)
      while case let page = try cursor.next(upTo: RowPage.capacity), !page.isEmpty, try body(page) {}
    }
  }

  /// The IDs of the rows that match.
  public func objectIDs(matching query: StoreQuery) throws -> IDList {
    try reading { try $0.objectIDs(matching: query) }
  }

  /// How many rows match.
  public func count(matching query: StoreQuery) throws -> Int { try reading { try $0.count(matching: query) } }

  /// The row of an object; nil if there is none (any more).
  public func snapshot(of id: ManagedObjectID) throws -> Snapshot? { try reading { try $0.snapshot(of: id) } }

  /// The rows of several objects in any order; objects without a row are left out.
  public func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] { try reading { try $0.snapshots(of: ids) } }

  /// The destinations of a to-many relationship (`ReadSession`).
  public func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID] {
    try reading { try $0.destinations(of: id, relationship: slot) }
  }

  /// The same of a relationship of several objects of one entity, in the order of `ids`.
  public func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
    try reading { try $0.destinations(of: ids, relationship: slot) }
  }

  /// The same with the rows of the destinations (`ReadSession`).
  public func destinationRows(of ids: [ManagedObjectID], relationship slot: Slot) throws -> DestinationRows {
    try reading { try $0.destinationRows(of: ids, relationship: slot) }
  }

  private func reading<Result>(_ body: (any ReadSession) throws -> Result) throws -> Result {
    let session = try beginReading(.oneCall)
    defer { session.end() }
    return try body(session)
  }
}

/// A session that stops reading rows that weigh too much to be held together.
package protocol WeighingReadSession: ReadSession {
  /// The rows that match a query; nil if they weigh as many bytes as this or more.
  func snapshots(matching query: StoreQuery, lighterThan weight: Int) throws -> [Snapshot]?
}
