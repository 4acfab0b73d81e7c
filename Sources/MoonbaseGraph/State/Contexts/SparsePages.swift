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
