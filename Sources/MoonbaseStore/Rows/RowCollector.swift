package import MoonbaseModel

/// Collects rows of several entities in pages, in the order of their arrival.
///
/// Pages begin small and grow, so that a few rows take little memory.
package final class RowCollector {
  /// Consecutive rows of a page.
  private struct Stretch {
    var page: Int
    var places: Range<Int>
  }

  private let store: StoreNumber
  private let firstCapacity: Int
  /// The pages being filled, by entity, with their index in `pages`.
  @exclusivity(unchecked) private var open: ContiguousArray<(index: Int, builder: RowPageBuilder)> = []
  @exclusivity(unchecked) private var pages: ContiguousArray<RowPage?> = []
  /// All rows except those in the current stretch.
  @exclusivity(unchecked) private var order: ContiguousArray<Stretch> = []
  /// The page being filled, its index, and the place of the current stretch's first row.
  @exclusivity(unchecked) private var current: RowPageBuilder?
  @exclusivity(unchecked) private var currentIndex = 0
  @exclusivity(unchecked) private var currentStart = 0
  /// The number of rows before the current stretch.
  @exclusivity(unchecked) private var countBefore = 0
  /// The last page that was filled elsewhere, and its index.
  @exclusivity(unchecked) private var foreign: (index: Int, page: RowPage)?
  /// The bytes of all pages except the current one.
  @exclusivity(unchecked) private var otherWeight = 0

  /// Makes a collector with room for the expected number of rows.
  package init(store: StoreNumber, expecting count: Int = 0) {
    self.store = store
    firstCapacity = Swift.max(8, Swift.min(count, RowPage.capacity))
  }

  /// The number of rows.
  package var count: Int { countBefore &+ (current.map { $0.count &- currentStart } ?? 0) }

  /// The estimated bytes of the rows so far.
  package var weight: Int { otherWeight &+ (current?.weight ?? 0) }

  /// The page for the next row of an entity, usable until it is full. The caller ends each row.
  package func page(for entity: Symbol, slotCount: Int) -> RowPageBuilder {
    if let current, current.entity == entity, !current.isFull { return current }
    return nextPage(for: entity, slotCount: slotCount)
  }

  /// Continues with another page for the next row.
  @inline(never)  // called once for each page, or when entities alternate
  private func nextPage(for entity: Symbol, slotCount: Int) -> RowPageBuilder {
    endStretch()
    if let current { otherWeight &+= current.weight }
    let next = openPage(for: entity, slotCount: slotCount)
    (currentIndex, current, currentStart) = (next.index, next.builder, next.builder.count)
    otherWeight &-= next.builder.weight
    return next.builder
  }

  /// The page of an entity that is being filled, or a new and larger one.
  private func openPage(for entity: Symbol, slotCount: Int) -> (index: Int, builder: RowPageBuilder) {
    let place = open.firstIndex { $0.builder.entity == entity }
    if let place, !open[place].builder.isFull { return open[place] }
    let former = place.map { open[$0] }
    let next = (
      index: pages.count,
      builder: RowPageBuilder(
        store, entity: entity, slotCount: slotCount, capacity: former.map { 4 * $0.builder.capacity } ?? firstCapacity)
    )
    pages.append(nil)
    if let place, let former {
      pages[former.index] = former.builder.finish()
      open[place] = next
    } else {
      open.append(next)
    }
    return next
  }

  /// Ends the current stretch of rows.
  private func endStretch() {
    guard let current, current.count > currentStart else { return }
    order.append(Stretch(page: currentIndex, places: currentStart..<current.count))
    countBefore &+= current.count &- currentStart
    currentStart = current.count
  }

  /// Adds a row of a page that was filled elsewhere, without copying it.
  package func add(_ page: RowPage, at place: Int) {
    endStretch()
    if foreign?.page !== page {
      foreign = (pages.count, page)
      pages.append(page)
    }
    guard let index = foreign?.index else { return }
    countBefore &+= 1
    if let last = order.last, last.page == index, last.places.upperBound == place {
      order[order.count - 1].places = last.places.lowerBound..<place &+ 1
    } else {
      order.append(Stretch(page: index, places: place..<place &+ 1))
    }
  }

  /// Copies a row, cell by cell.
  func append(_ row: Snapshot) {
    let page = page(for: row.page.entity, slotCount: row.page.shape.slotCount)
    page.beginRow(key: row.page.key(row.place), version: row.version)
    for slot in 0..<row.page.shape.slotCount { page.copy(row.cell(slot), slot: slot) }
    page.endRow()
  }

  /// The rows in the order of their arrival.
  package func finish() -> RowBatch {
    endStretch()
    current = nil
    for page in open { pages[page.index] = page.builder.finish() }
    open = []
    var batch = RowBatch()
    for stretch in order {
      if let page = pages[stretch.page] { batch.append(page, stretch.places) }
    }
    return batch
  }
}
