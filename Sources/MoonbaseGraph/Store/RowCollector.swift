package import MoonbaseModel

/// Rows of several entities on their way into pages, in the order in which they come.
///
/// Pages begin small and grow, so that a few rows take little room.
package final class RowCollector {
  private let store: StoreNumber
  private let firstCapacity: Int
  /// The pages that are being filled, by entity, and the index that each will have.
  @exclusivity(unchecked) private var open: ContiguousArray<(index: Int, builder: RowPageBuilder)> = []
  @exclusivity(unchecked) private var pages: ContiguousArray<RowPage?> = []
  /// Page and place of each row.
  @exclusivity(unchecked) private var order: ContiguousArray<(page: Int, place: Int)> = []
  /// The page that was filled elsewhere and had the last such row, and its index.
  @exclusivity(unchecked) private var foreign: (index: Int, page: RowPage)?
  /// The index in `open` of the page that took the last row.
  @exclusivity(unchecked) private var last = 0
  /// The bytes that the finished pages keep, and those of the open ones but the last.
  @exclusivity(unchecked) private var finishedWeight = 0
  @exclusivity(unchecked) private var othersWeight = 0

  /// Makes room for the rows that are expected of an entity.
  package init(store: StoreNumber, expecting count: Int = 0) {
    self.store = store
    firstCapacity = Swift.max(8, Swift.min(count, RowPage.capacity))
  }

  /// How many rows there are.
  package var count: Int { order.count }

  /// The bytes that the rows keep so far, by estimate.
  package var weight: Int { finishedWeight &+ othersWeight &+ (last < open.count ? open[last].builder.weight : 0) }

  /// The page that takes the next row of an entity.
  package func page(for entity: Symbol, slotCount: Int) -> RowPageBuilder {
    if last < open.count, open[last].builder.entity == entity, !open[last].builder.isFull { return open[last].builder }
    return nextPage(for: entity, slotCount: slotCount)
  }

  @inline(never)  // once for each page, or where entities take turns
  private func nextPage(for entity: Symbol, slotCount: Int) -> RowPageBuilder {
    last = open.firstIndex { $0.builder.entity == entity } ?? open.count
    defer { othersWeight = open.reduce(0) { $0 &+ $1.builder.weight } &- open[last].builder.weight }
    if last < open.count, !open[last].builder.isFull { return open[last].builder }
    let former = last < open.count ? open[last] : nil
    let builder = RowPageBuilder(
      store, entity: entity, slotCount: slotCount, capacity: former.map { 4 * $0.builder.capacity } ?? firstCapacity)
    if let former {
      close(former)
      open[last] = (pages.count, builder)
    } else {
      open.append((pages.count, builder))
    }
    pages.append(nil)
    return builder
  }

  private func close(_ page: (index: Int, builder: RowPageBuilder)) {
    finishedWeight &+= page.builder.weight
    pages[page.index] = page.builder.finish()
  }

  /// The row that was begun in the page last asked for is complete.
  package func endRow() {
    let (index, builder) = open[last]
    order.append((index, builder.count))
    builder.endRow()
  }

  /// Takes in a row where it is, in a page that was filled elsewhere.
  func add(_ page: RowPage, at place: Int) {
    if let foreign, foreign.page === page { return order.append((foreign.index, place)) }
    foreign = (pages.count, page)
    order.append((pages.count, place))
    pages.append(page)
  }

  /// Copies a row, cell by cell.
  func append(_ row: Snapshot) {
    let page = page(for: row.page.entity, slotCount: row.page.shape.slotCount)
    page.beginRow(key: row.id.key, version: row.version)
    for slot in 0..<row.page.shape.slotCount { page.copy(row.cell(slot), slot: slot) }
    endRow()
  }

  /// The rows in the order in which they came.
  package func finish() -> [Snapshot] {
    for page in open { close(page) }
    open = []
    return order.compactMap { entry in pages[entry.page].map { Snapshot(unchecked: $0, at: entry.place) } }
  }
}
