/// Pages of which most objects went: those that are left keep all rows of the page, for which nobody has any use.
///
/// They get pages of their own the next time that the context reads rows. Not at once, for an object may go at any moment, also
/// while somebody looks at the bytes of another one's row.
struct SparsePages {
  private var pages: ContiguousArray<RowPage> = []
  /// So many wait before those are let go that no object needs.
  private var bound = 8

  var isEmpty: Bool { pages.isEmpty }

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

  /// The pages that somebody needs.
  mutating func take() -> ContiguousArray<RowPage> {
    dropUnused()
    bound = 8
    defer { pages = [] }
    return pages
  }
}

extension ManagedObjectContext {
  /// Before rows are read, here or for another context of the same scripts: objects that are the last ones of a page get their rows copied.
  @inline(__always)
  package func copyRowsOfSparsePages() {
    if !sparsePages.isEmpty { copySparseRows() }
  }

  @inline(never)
  private func copySparseRows() {
    for page in sparsePages.take() {
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
