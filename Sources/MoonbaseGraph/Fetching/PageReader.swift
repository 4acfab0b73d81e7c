import MoonbaseModel
import MoonbasePlatform

/// Reads the pages of a cursor. For a long walk, another thread reads the next pages while the current one is used.
///
/// The other thread uses the cursor exclusively while it reads. It reads at most two pages ahead and then stops until a
/// page is consumed, so that no thread waits for an idle walk. Its work is charged to the run that consumes the pages,
/// and ends with that run. An error is thrown in place of its page.
package final class PageReader {
  private let cursor: any RowCursor
  private let ahead = PagesAhead()
  private let mayReadAhead: Bool
  /// The number of consecutive full pages read on this thread.
  private var fullPages = 0

  /// The number of full pages after which another thread starts to read: for fewer rows, starting it would take longer.
  private static let firstPages = 2
  /// The divisor of a run's memory limit for a page that may be read ahead, because these pages are not charged yet.
  private static let share = 32

  /// Reads a cursor. With `mayReadAhead`, another thread may read, which must not call script functions.
  package init(_ cursor: any RowCursor, mayReadAhead: Bool) {
    self.cursor = cursor
    self.mayReadAhead = mayReadAhead && HostErrand.hasSeveralCores && !(cursor is RowList)
  }

  deinit { stop() }

  /// Stops reading ahead.
  func stop() { ahead.stop() }

  /// The estimated greatest number of bytes of pages read ahead.
  private(set) var weightAhead = 0

  /// The next rows; empty at the end.
  package func next(upTo count: Int) throws -> RowBatch {
    // Stores that run statements check for cancellation more often.
    if Task.isCancelled { throw CancellationError() }
    if let page = try ahead.take(cursor, count: count) { return try page.get() }
    let page = try cursor.next(upTo: count)
    fullPages = page.count >= RowPage.capacity ? fullPages + 1 : 0
    if mayReadAhead, fullPages >= Self.firstPages, !Self.isHeavy(page) {
      weightAhead = PagesAhead.depth * page.weight
      ahead.begin(cursor, count: count)
    }
    return page
  }

  /// The IDs of all remaining rows.
  package func remainingIDs() throws -> IDList {
    var ids = IDList()
    for page in try ahead.takeAll() { for row in try page.get() { ids.append(row.id) } }
    ids.append(contentsOf: try cursor.remainingIDs())
    return ids
  }

  /// Whether a page is so large that further pages are read only on demand.
  fileprivate static func isHeavy(_ page: RowBatch) -> Bool { page.weight > HostWork.greatestValue / share }
}

/// Pages that another thread reads ahead.
private final class PagesAhead: @unchecked Sendable {  // mutable state is accessed only under `condition`
  /// The state of the other thread.
  private enum State {
    /// No thread reads.
    case idle
    /// A thread was scheduled, and has not started yet.
    case asked(Int)
    case reading
  }

  private let condition = NSCondition()
  private var state = State.idle
  /// The number of the last request for a thread.
  private var number = 0
  private var pages: [Result<RowBatch, any Error>] = []
  private var isStopped = false
  private var isAtEnd = false
  private var errand: HostErrand?
  /// The cursor while another thread may read it; nil otherwise, so that an idle reader does not retain it.
  private var lent: (any RowCursor)?

  static let depth = 2
  /// The seconds between checks whether the waiting run must end.
  private static let pause = 0.01

  /// Starts reading on another thread.
  func begin(_ cursor: any RowCursor, count: Int) {
    condition.lock()
    defer { condition.unlock() }
    ask(cursor, count: count)
  }

  /// Schedules a thread to read the next page, unless enough pages are ready.
  private func ask(_ cursor: any RowCursor, count: Int) {
    guard case .idle = state, !isAtEnd, !isStopped, pages.count < Self.depth else { return }
    number += 1
    state = .asked(number)
    let errand = errand ?? HostErrand()
    self.errand = errand
    let number = number
    lent = cursor
    DispatchQueue.global(qos: .userInitiated).async { self.read(count: count, for: errand, number) }
  }

  /// Reads a page on the other thread.
  private func read(count: Int, for errand: HostErrand, _ number: Int) {
    condition.lock()
    defer { condition.unlock() }
    guard case .asked(number) = state, !isStopped else { return }
    state = .reading
    while !isStopped, !isAtEnd, pages.count < Self.depth, let cursor = lent {
      condition.unlock()
      let page = Result { try errand.run { try cursor.next(upTo: count) } }
      condition.lock()
      pages.append(page)
      let rows = try? page.get()
      isAtEnd = rows?.isEmpty ?? true
      condition.signal()
      if errand.run({ rows.map(PageReader.isHeavy) ?? false }) { break }
    }
    beIdle()
    condition.signal()
  }

  private func beIdle() { (state, lent) = (.idle, nil) }

  /// The next page, after waiting for a read in progress; nil if no thread reads, so that the caller may use the
  /// cursor.
  func take(_ cursor: any RowCursor, count: Int) throws -> Result<RowBatch, any Error>? {
    guard let errand else { return nil }
    condition.lock()
    defer { condition.unlock() }
    while pages.isEmpty {
      guard case .reading = state else {
        // A thread that has not started yet is no longer needed.
        beIdle()
        self.errand = nil
        return nil
      }
      try wait(charging: errand)
    }
    try HostWork.charge(errand.takeUnits())
    let page = pages.removeFirst()
    ask(cursor, count: count)
    return page
  }

  /// All pages read ahead; afterwards the caller may use the cursor.
  func takeAll() throws -> [Result<RowBatch, any Error>] {
    guard let errand else { return [] }
    condition.lock()
    defer { condition.unlock() }
    isAtEnd = true
    while case .reading = state { try wait(charging: errand) }
    beIdle()
    self.errand = nil
    try HostWork.charge(errand.takeUnits())
    defer { pages = [] }
    return pages
  }

  /// Waits briefly. If the run must end or the task is cancelled, the read is ended too.
  private func wait(charging errand: HostErrand) throws {
    _ = condition.wait(until: Date(timeIntervalSinceNow: Self.pause))
    let mustEnd = HostWork.mustEnd(after: errand.takeUnits()) || HostWork.isOver
    guard mustEnd || Task.isCancelled else { return }
    isStopped = true
    errand.stop()
    while case .reading = state { condition.wait() }
    throw mustEnd ? HostWork.ending() : CancellationError()
  }

  /// Stops the read within one row. Afterwards only the caller's side retains the cursor and its store.
  func stop() {
    condition.lock()
    defer { condition.unlock() }
    isStopped = true
    errand?.stop()
    while case .reading = state { condition.wait() }
    beIdle()
  }
}
