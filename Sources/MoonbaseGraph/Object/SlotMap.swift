import MoonbaseModel

/// Elements for a few slots of an object, in the order they came: most objects have none or one or two, and looking at each is
/// quicker than hashing, and smaller.
struct SlotMap<Element>: Sequence, ExpressibleByDictionaryLiteral {
  private var entries: [(key: Int, value: Element)] = []

  init(dictionaryLiteral elements: (Int, Element)...) {
    for (slot, element) in elements { self[slot] = element }
  }

  var isEmpty: Bool { entries.isEmpty }
  var keys: [Int] { entries.map(\.key) }
  var values: [Element] { entries.map(\.value) }

  subscript(slot: Slot) -> Element? {
    get {
      for entry in entries where entry.key == slot { return entry.value }
      return nil
    }
    set {
      let index = entries.firstIndex { $0.key == slot }
      switch (index, newValue) {
      case (let index?, let element?): entries[index].value = element
      case (let index?, nil): entries.remove(at: index)
      case (nil, let element?): entries.append((slot, element))
      case (nil, nil): break
      }
    }
  }

  /// What `body` finds in the element of a slot, of which no copy is made.
  @inline(__always)
  func first<Result>(_ slot: Slot, _ body: (borrowing Element) -> Result?) -> Result? {
    entries.withUnsafeBufferPointer { entries in
      for index in entries.indices where entries[index].key == slot { return body(entries[index].value) }
      return nil
    }
  }

  func makeIterator() -> IndexingIterator<[(key: Int, value: Element)]> { entries.makeIterator() }

  func filter(_ isIncluded: ((key: Int, value: Element)) throws -> Bool) rethrows -> SlotMap {
    var result = SlotMap()
    result.entries = try entries.filter(isIncluded)
    return result
  }
}
