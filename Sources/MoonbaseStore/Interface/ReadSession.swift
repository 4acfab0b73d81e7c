public import MoonbaseModel
import MoonbasePlatform

/// The extent of a read session.
public enum ReadScope: Sendable {
  /// A single call, or a single cursor read to its end: consistency needs no extra effort of the session.
  case oneCall
  /// Several calls, all of which see one state.
  case view
}

/// A consistent state of a store for reading: a fetch, its pages, its prefetched rows and later faults see the same
/// data, whatever is saved meanwhile.
///
/// The session ends with `end()` or when it is released. Several threads may use it; calls wait for each other.
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
  /// Whether all calls see one state and no other session waits for the end of this one, so that a context may keep the
  /// session open. Otherwise each call sees the state of its own moment.
  var canBeHeldOpen: Bool { get }
  /// Whether all calls see one state, even if another session has to wait for the end of this one.
  var isConsistent: Bool { get }

  /// The matching rows, read in batches.
  func rows(matching query: StoreQuery) throws -> any RowCursor
  /// The matching rows.
  func snapshots(matching query: StoreQuery) throws -> [Snapshot]
  /// The IDs of the matching rows, read in batches.
  func ids(matching query: StoreQuery) throws -> any IDCursor
  /// The number of matching rows.
  func count(matching query: StoreQuery) throws -> Int
  /// The query's `columns`, a row of values for each object or group, read in batches. A store that forwards plans of
  /// another store also forwards this call.
  func values(matching query: StoreQuery) throws -> any RowCursor

  /// The row of an object; nil if there is none.
  func snapshot(of id: ManagedObjectID) throws -> Snapshot?
  /// The rows of several objects in any order; objects without a row are left out.
  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot]
  /// The destinations of a to-many relationship, in order if the relationship is ordered. For a one-to-one
  /// relationship: the objects whose rows point here by the inverse, whatever the row of this object says.
  func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID]
  /// The destinations for several objects of one entity, in the order of `ids`.
  func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]]
  /// The destinations for several objects with their rows, as far as rows exist: used for prefetching.
  func destinationRows(of ids: [ManagedObjectID], relationship slot: Slot) throws -> DestinationRows

  /// Ends the session and its cursors. No call may follow except a second `end()`, which does nothing.
  func end()
}

extension ReadSession {
  /// The value of `canBeHeldOpen`.
  public var isConsistent: Bool { canBeHeldOpen }

  /// Reads the rows page by page.
  public func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    let cursor = try rows(matching: query)
    var result: [Snapshot] = []
    while case let page = try cursor.next(upTo: RowPage.capacity), !page.isEmpty { result += page }
    return result
  }

  /// The IDs of rows that are read and released.
  public func ids(matching query: StoreQuery) throws -> any IDCursor { RowIDCursor(try rows(matching: query)) }

  /// Values computed from rows, if rows suffice (`QueryColumns.reasonAgainstRows`).
  public func values(matching query: StoreQuery) throws -> any RowCursor {
    var rows = query
    rows.columns = nil
    let columns = query.columns ?? QueryColumns([])
    if columns.isGrouped { (rows.limit, rows.offset) = (0, 0) }
    return try ColumnsOfRows(columns, of: query, self.rows(matching: rows))
  }

  /// The IDs of the matching rows, read page by page.
  public func objectIDs(matching query: StoreQuery) throws -> IDList { try ids(matching: query).remainingIDs() }

  /// Reads the destinations object by object.
  public func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
    try ids.map { try destinations(of: $0, relationship: slot) }
  }

  /// Reads the destinations, then their rows.
  public func destinationRows(of ids: [ManagedObjectID], relationship slot: Slot) throws -> DestinationRows {
    let lists = try destinations(of: ids, relationship: slot)
    let rows = try snapshots(of: Array(Set(lists.joined())))
    let byID = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
    var result = DestinationRows()
    for list in lists { result.append(list.compactMap { byID[$0] }, of: list) }
    return result
  }
}

/// The destinations of a to-many relationship for several objects, with their rows.
public struct DestinationRows: Sendable {
  /// The rows of all destinations, grouped by owner and in order.
  package private(set) var rows = RowBatch()
  /// For each owner, the range of its destinations' rows.
  package private(set) var ranges: [Range<Int>] = []
  /// The IDs of an owner's destinations, for owners with a destination without a row.
  private var incomplete: [Int: [ManagedObjectID]] = [:]

  /// An empty list.
  public init() {}

  /// Makes a list of rows grouped by owner in any order; `ranges` has the range of each owner's rows.
  package init(_ rows: RowBatch, ranges: [Range<Int>]) { (self.rows, self.ranges) = (rows, ranges) }

  /// Adds the next owner, with its destinations and their existing rows in order.
  public mutating func append(_ rows: [Snapshot], of ids: [ManagedObjectID]) {
    append(RowBatch(rows), of: ids)
  }

  package mutating func append(_ rows: RowBatch, of ids: [ManagedObjectID]) {
    if rows.count != ids.count { incomplete[ranges.count] = ids }
    ranges.append(self.rows.count..<self.rows.count + rows.count)
    self.rows.append(rows)
  }

  /// The rows of an owner's destinations.
  package func rows(_ owner: Int) -> RowBatch { rows.rows(ranges[owner]) }

  /// Whether an owner has no destinations.
  package func isEmpty(_ owner: Int) -> Bool { incomplete[owner]?.isEmpty ?? ranges[owner].isEmpty }

  /// The IDs of an owner's destinations.
  package func ids(_ owner: Int) -> [ManagedObjectID] { incomplete[owner] ?? rows(owner).ids }
}

/// The rows of a query in order, read in batches.
///
/// Several threads may use a cursor, one at a time.
public protocol RowCursor: AnyObject, Sendable {
  /// The next rows, at most `count`, fewer if they are large; empty at the end.
  func next(upTo count: Int) throws -> RowBatch
  /// The IDs of all remaining rows, which are then no longer returned as rows.
  func remainingIDs() throws -> IDList
}

extension RowCursor {
  /// Reads the remaining rows for their IDs.
  public func remainingIDs() throws -> IDList { try RowIDCursor(self).remainingIDs() }
}

/// The IDs of a query's rows in order, read in batches without the rows.
///
/// Several threads may use a cursor, one at a time.
public protocol IDCursor: AnyObject, Sendable {
  /// The next IDs, at most `count`; empty at the end.
  func next(upTo count: Int) throws -> IDList
}

extension IDCursor {
  /// All remaining IDs.
  public func remainingIDs() throws -> IDList {
    var result = IDList()
    var memory = HostMemory()
    while case let page = try next(upTo: IDList.pageSize), !page.isEmpty {
      // A growing list reserves up to twice its size.
      try memory.hold(2 * page.weight)
      result.append(contentsOf: page)
    }
    return result
  }
}

extension IDList {
  /// The number of IDs in a batch when all are read.
  package static let pageSize = 8 * RowPage.capacity
}

/// The IDs of another cursor's rows.
private final class RowIDCursor: IDCursor {
  private let rows: any RowCursor

  init(_ rows: any RowCursor) { self.rows = rows }

  func next(upTo count: Int) throws -> IDList {
    IDList(try rows.next(upTo: Swift.min(count, RowPage.capacity)).lazy.map(\.id))
  }
}

/// A cursor over a list of IDs.
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

/// A cursor over an array of rows.
public final class RowList: RowCursor {
  private struct State {
    var rows: [Snapshot]
    /// The number of rows returned so far. Returned rows are removed in groups, so that each row is moved only once or
    /// twice.
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

/// Single reads, each in a session of its own.
extension PersistentStore {
  /// Begins a session for several reads of one state.
  public func beginReading() throws -> any ReadSession { try beginReading(.view) }

  /// The matching rows.
  public func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    try reading { try $0.snapshots(matching: query) }
  }

  /// Passes the matching rows to `body` in batches until it returns false. All rows are of one state of the store and
  /// are not held in memory together. `body` may read the store.
  public func forEachBatch(matching query: StoreQuery, _ body: (RowBatch) throws -> Bool) throws {
    try reading { session in
      let cursor = try session.rows(matching: query)
      while case let page = try cursor.next(upTo: RowPage.capacity), !page.isEmpty, try body(page) {}
    }
  }

  /// The IDs of the matching rows.
  public func objectIDs(matching query: StoreQuery) throws -> IDList {
    try reading { try $0.objectIDs(matching: query) }
  }

  /// The number of matching rows.
  public func count(matching query: StoreQuery) throws -> Int { try reading { try $0.count(matching: query) } }

  /// The row of an object; nil if there is none.
  public func snapshot(of id: ManagedObjectID) throws -> Snapshot? { try reading { try $0.snapshot(of: id) } }

  /// The rows of several objects in any order; objects without a row are left out.
  public func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] { try reading { try $0.snapshots(of: ids) } }

  /// The destinations of a to-many relationship (`ReadSession`).
  public func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID] {
    try reading { try $0.destinations(of: id, relationship: slot) }
  }

  /// The destinations for several objects of one entity, in the order of `ids`.
  public func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
    try reading { try $0.destinations(of: ids, relationship: slot) }
  }

  /// The destinations for several objects with their rows (`ReadSession`).
  public func destinationRows(of ids: [ManagedObjectID], relationship slot: Slot) throws -> DestinationRows {
    try reading { try $0.destinationRows(of: ids, relationship: slot) }
  }

  private func reading<Result>(_ body: (any ReadSession) throws -> Result) throws -> Result {
    let session = try beginReading(.oneCall)
    defer { session.end() }
    return try body(session)
  }
}

/// A session that stops reading when rows become too large to hold together.
package protocol WeighingReadSession: ReadSession {
  /// The rows of a query; nil if they have `weight` bytes or more.
  func snapshots(matching query: StoreQuery, lighterThan weight: Int) throws -> [Snapshot]?
}
