import MoonbasePlatform

/// A store that writes new rows of a save while further rows are made (`StoreChanges.following`).
package protocol StreamingStore: PersistentStore {
  /// Whether the store can do so in this save, and can be read meanwhile.
  func acceptsStreamedRows(in session: any SaveSession) throws -> Bool
}

/// A queue of rows, in batches, from the thread that makes them to the thread that writes them.
package final class RowQueue: @unchecked Sendable {  // only the writing thread accesses `count`
  private let batches = Handover<RowBatch>(depth: 2)
  private let keys = Handover<Int64>(depth: 1)
  /// The number of rows consumed.
  package private(set) var count = 0

  /// Makes an empty queue.
  package init() {}

  // MARK: Making

  /// Waits for the key of the first row; nil if the store takes no rows.
  package func firstKey() throws -> Int64? { try keys.receive() }

  /// Adds rows, after waiting for room.
  package func add(_ rows: RowBatch) throws { try batches.put(rows) }

  /// Marks the end of the rows.
  package func complete() { batches.complete() }

  /// Aborts the transfer, called by either side.
  package func breakOff() {
    keys.breakOff()
    batches.breakOff()
  }

  // MARK: Writing

  package func begin(at key: Int64) throws { try keys.put(key) }

  /// Tells that the store takes no rows.
  package func decline() { keys.complete() }

  /// The next rows, in the order of their keys; nil after the last.
  package func next() throws -> RowBatch? {
    let rows = try batches.receive()
    count += rows?.count ?? 0
    return rows
  }
}
