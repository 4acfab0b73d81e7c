/// Pages whose remaining objects are few, so that most rows are kept in memory for no use.
///
/// The remaining rows are copied into new pages the next time that the context reads rows. They are not copied at once,
/// because an object may be released at any moment, even while code reads another row of the page.
struct SparsePages {
  private var pages: ContiguousArray<RowPage> = []
  /// The number of pages at which unused pages are dropped.
  private var bound = 8

  var isEmpty: Bool { pages.isEmpty }

  /// Adds a page that has become sparse.
  mutating func append(_ page: RowPage) {
    if pages.last === page { return }
    if pages.count >= bound {
      dropUnused()
      bound = max(8, 2 * pages.count)
    }
    pages.append(page)
  }

  private mutating func dropUnused() {
    var used: ContiguousArray<RowPage> = []
    while var page = pages.popLast() {
      if !isKnownUniquelyReferenced(&page) { used.append(page) }
    }
    pages = used
  }

  /// Removes and returns the pages that are still in use.
  mutating func drain() -> ContiguousArray<RowPage> {
    dropUnused()
    bound = 8
    defer { pages = [] }
    return pages
  }
}

extension ManagedObjectContext {
  /// Copies the last remaining rows of sparse pages. Called before rows are read, here or for another context of the
  /// same scripts.
  @inline(__always)
  package func copyRowsOfSparsePages() {
    if !memory.sparsePages.isEmpty { copySparseRows() }
  }

  @inline(never)
  private func copySparseRows() {
    for page in memory.sparsePages.drain() {
      let objects = (0..<page.count).compactMap { place -> ManagedObject? in
        let object = registered[page.id(place)]?.takeUnretainedValue()
        return object.flatMap { $0.row.lies(at: place, in: page) ? $0 : nil }
      }
      if 4 * objects.count > page.count { continue }
      for object in objects where object.snapshot == nil { object.copyOwnRow() }
      let saved = objects.filter { $0.snapshot != nil }
      for object in saved { object.spillRow() }
      for (object, copy) in zip(saved, Snapshot.copies(of: saved.compactMap(\.snapshot))) { object.move(to: copy) }
    }
  }
}
