import MoonbaseModel
import MoonbasePlatform

/// The pages of a cursor, one after the other. Once a walk proves long, another thread reads the next ones while these are used.
///
/// The other thread has the cursor as long as it reads, and nobody else does. It reads no further than two pages, then its work is done
/// until one is taken: no thread waits for a walk that stands still. What it does is charged to the run of who takes the pages, and ends with it.
/// An error comes at the page it belongs to.
package final class PageReader {
  private let cursor: any RowCursor
  private let ahead = PagesAhead()
  private let mayReadAhead: Bool
  /// How many full pages were read here.
  private var fullPages = 0

  /// So many pages are read before another thread is asked: fewer rows are read sooner than it comes.
  private static let firstPages = 2
  /// Pages that are read ahead are no part yet of what a run is weighed with: of its memory they take no more than this part.
  private static let share = 32

  /// Reads a cursor; with `mayReadAhead` on another thread, too, which must not run functions of scripts.
  package init(_ cursor: any RowCursor, mayReadAhead: Bool) {
    self.cursor = cursor
    self.mayReadAhead = mayReadAhead && HostErrand.hasSeveralCores && !(cursor is RowList)
  }

  deinit { stop() }

  /// Nobody wants more: who reads on another thread ends.
  func stop() { ahead.stop() }

  /// The bytes that pages read ahead keep at most, by estimate.
  private(set) var weightAhead = 0

  /// The next rows, none at the end.
  package func next(upTo count: Int) throws -> RowBatch {
    // Stores that run statements look more often.
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

  /// The IDs of all rows that are still to come.
  package func remainingIDs() throws -> IDList {
    var ids = IDList()
    for page in try ahead.takeAll() { for row in try page.get() { ids.append(row.id) } }
    ids.append(contentsOf: try cursor.remainingIDs())
    return ids
  }

  /// So heavy that the next one had better wait until it is wanted.
  fileprivate static func isHeavy(_ page: RowBatch) -> Bool { page.weight > HostWork.greatestValue / share }
}

/// Pages that another thread reads.
private final class PagesAhead: @unchecked Sendable {  // what changes is touched only under `condition`
  private enum State {
    /// Nobody reads.
    case idle
    /// A thread was asked to, and has not come yet.
    case asked(Int)
    case reading
  }

  private let condition = NSCondition()
  private var state = State.idle
  /// The number of the last request.
  private var number = 0
  private var pages: [Result<RowBatch, any Error>] = []
  private var isStopped = false
  private var isAtEnd = false
  private var errand: HostErrand?
  /// What is read, as long as another thread is asked to: it keeps nothing that it is not asked for.
  private var lent: (any RowCursor)?

  static let depth = 2
  /// Between two looks whether the run that waits must end.
  private static let pause = 0.01

  /// Asks another thread to read.
  func begin(_ cursor: any RowCursor, count: Int) {
    condition.lock()
    defer { condition.unlock() }
    ask(cursor, count: count)
  }

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

  /// The next page, waiting for one that is on its way; nil where none is: then the cursor is the caller's again.
  func take(_ cursor: any RowCursor, count: Int) throws -> Result<RowBatch, any Error>? {
    guard let errand else { return nil }
    condition.lock()
    defer { condition.unlock() }
    while pages.isEmpty {
      guard case .reading = state else {
        // Who was asked and has not come is too late.
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

  /// All pages that were read; the cursor is the caller's again.
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

  /// Waits for a moment. A run that must end, and a task that was cancelled, end the reading too.
  private func wait(charging errand: HostErrand) throws {
    _ = condition.wait(until: Date(timeIntervalSinceNow: Self.pause))
    let mustEnd = HostWork.mustEnd(after: errand.takeUnits()) || HostWork.isOver
    guard mustEnd || Task.isCancelled else { return }
    isStopped = true
    errand.stop()
    while case .reading = state { condition.wait() }
    throw mustEnd ? HostWork.ending() : CancellationError()
  }

  /// Nobody wants more. Who reads ends with the next row: then nobody but who walked holds the cursor, and its store.
  func stop() {
    condition.lock()
    defer { condition.unlock() }
    isStopped = true
    errand?.stop()
    while case .reading = state { condition.wait() }
    beIdle()
  }
}
