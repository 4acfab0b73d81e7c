import MoonbaseModel
import MoonbasePlatform

/// Reads the pages of a cursor. For a long walk, another thread reads the next pages while the current one is used.
///
/// The other thread uses the cursor exclusively while it reads. It reads at most two pages ahead and then stops until a
/// page is consumed, so that no thread waits for an idle walk. Its work is charged to the run that consumes the pages,
/// and ends with that run. An error is thrown in place of its page.
///
/// Owned by one walk and used on the walk's thread; only `PagesAhead` is shared with the other thread. After `stop` no
/// thread uses the cursor.
package final class PageReader {
  /// The source of pages. Either this thread or the other one uses it, never both.
  private let cursor: any RowCursor
  /// The pages that the other thread has read.
  private let ahead = PagesAhead()
  /// Whether another thread may read: the query calls no script functions, and the rows are not in memory already.
  private let mayReadAhead: Bool
  /// The number of consecutive full pages read on this thread.
  private var fullPages = 0

  /// The number of full pages after which another thread starts to read: for fewer rows, starting it would take longer.
  private static let firstPages = 2
  /// The divisor of a run's memory limit for a page that may be read ahead, because these pages are not charged yet.
  private static let share = 32

  /// Reads a cursor. With `mayReadAhead`, another thread may read, which must not call script functions. Nothing is
  /// read before the first call of `next`.
  package init(_ cursor: any RowCursor, mayReadAhead: Bool) {
    self.cursor = cursor
    self.mayReadAhead = mayReadAhead && HostErrand.hasSeveralCores && !(cursor is RowList)
  }

  deinit { stop() }

  /// Stops reading ahead. Waits until the other thread has ended its current row.
  func stop() { ahead.stop() }

  /// The estimated greatest number of bytes of pages read ahead. Zero until another thread reads.
  private(set) var weightAhead = 0

  /// The next rows; empty at the end.
  ///
  /// Empty pages mean the end. Throws errors of the cursor, `CancellationError`, and the error of a run that has to
  /// end.
  package func next(upTo count: Int) throws -> RowBatch {
    // Stores that run statements check for cancellation more often.
    if Task.isCancelled { throw CancellationError() }
    if let page = try ahead.nextPage(cursor, count: count) { return try page.get() }
    let page = try cursor.next(upTo: count)
    fullPages = page.count >= RowPage.capacity ? fullPages + 1 : 0
    if mayReadAhead, fullPages >= Self.firstPages, !Self.isHeavy(page) {
      weightAhead = PagesAhead.depth * page.weight
      ahead.begin(cursor, count: count)
    }
    return page
  }

  /// The IDs of all remaining rows.
  ///
  /// Pages read ahead come first. The reader is at its end afterwards.
  package func remainingIDs() throws -> IDList {
    var ids = IDList()
    for page in try ahead.drain() { for row in try page.get() { ids.append(row.id) } }
    ids.append(contentsOf: try cursor.remainingIDs())
    return ids
  }

  /// Whether a page is so large that further pages are read only on demand.
  fileprivate static func isHeavy(_ page: RowBatch) -> Bool { page.weight > HostWork.greatestValue / share }
}

/// Pages that another thread reads ahead. A buffer of at most `depth` pages between two threads. The caller's thread
/// asks, takes and stops; the other thread reads.
private final class PagesAhead: @unchecked Sendable {  // mutable state is accessed only under `condition`
  /// The state of the other thread.
  private enum State {
    /// No thread reads.
    case idle
    /// A thread was scheduled, and has not started yet. The number identifies the request, so that an outdated block
    /// does nothing.
    case asked(Int)
    /// A thread uses the cursor; the caller has to wait.
    case reading
  }

  /// Guards all other properties; signalled after each page and at the end of a read.
  private let condition = NSCondition()
  /// The state of the other thread.
  private var state = State.idle
  /// The number of the last request for a thread.
  private var number = 0
  /// The pages in the order of the cursor, at most `depth`.
  private var pages: [Result<RowBatch, any Error>] = []
  /// Whether nothing is read any more.
  private var isStopped = false
  /// Whether the cursor has no more pages, or failed.
  private var isAtEnd = false
  /// The account for the work of the other thread; nil while this thread reads.
  private var errand: HostErrand?
  /// The cursor while another thread may read it; nil otherwise, so that an idle reader does not retain it.
  private var lent: (any RowCursor)?

  /// The greatest number of pages read ahead.
  static let depth = 2
  /// The seconds between checks whether the waiting run must end.
  private static let pause = 0.01

  /// Starts reading on another thread. Called after a page was read on the caller's thread; the next page comes from
  /// the other thread.
  func begin(_ cursor: any RowCursor, count: Int) {
    condition.lock()
    defer { condition.unlock() }
    ask(cursor, count: count)
  }

  /// Schedules a thread to read the next page, unless enough pages are ready. Called with `condition` locked.
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

  /// Reads a page on the other thread. Runs on a thread of the global queue. The lock is released while the cursor
  /// reads. Ends after `depth` pages, at the end of the cursor, after an error, and after a heavy page.
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

  /// Called with `condition` locked.
  private func beIdle() { (state, lent) = (.idle, nil) }

  /// The next page, after waiting for a read in progress; nil if no thread reads, so that the caller may use the
  /// cursor.
  ///
  /// Takes the page from the buffer, charges its work to the current run, and schedules the next read.
  func nextPage(_ cursor: any RowCursor, count: Int) throws -> Result<RowBatch, any Error>? {
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
    try HostWork.charge(errand.drainUnits())
    let page = pages.removeFirst()
    ask(cursor, count: count)
    return page
  }

  /// All pages read ahead; afterwards the caller may use the cursor.
  ///
  /// Waits for a read in progress. Used before the cursor is asked for IDs only.
  func drain() throws -> [Result<RowBatch, any Error>] {
    guard let errand else { return [] }
    condition.lock()
    defer { condition.unlock() }
    isAtEnd = true
    while case .reading = state { try wait(charging: errand) }
    beIdle()
    self.errand = nil
    try HostWork.charge(errand.drainUnits())
    defer { pages = [] }
    return pages
  }

  /// Waits briefly. If the run must end or the task is cancelled, the read is ended too. Called with `condition`
  /// locked, which is released while waiting.
  private func wait(charging errand: HostErrand) throws {
    _ = condition.wait(until: Date(timeIntervalSinceNow: Self.pause))
    let mustEnd = HostWork.mustEnd(after: errand.drainUnits()) || HostWork.isOver
    guard mustEnd || Task.isCancelled else { return }
    isStopped = true
    errand.stop()
    while case .reading = state { condition.wait() }
    throw mustEnd ? HostWork.ending() : CancellationError()
  }

  /// Stops the read within one row. Afterwards only the caller's side retains the cursor and its store. May be called
  /// several times.
  func stop() {
    condition.lock()
    defer { condition.unlock() }
    isStopped = true
    errand?.stop()
    while case .reading = state { condition.wait() }
    beIdle()
  }
}
