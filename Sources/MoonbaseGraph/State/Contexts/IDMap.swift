import MoonbaseModel

/// A hash table from object IDs to elements, faster than `Dictionary`.
///
/// Each object that is fetched and released passes through such a map four times. Consecutive keys are used together,
/// so each group of eight keys lies side by side. The hash factors are random, so no file can be crafted whose keys
/// collide.
struct IDMap<Element> {
  private struct Entry {
    var id: ManagedObjectID
    var element: Element
  }

  private static var groupMask: UInt64 { 7 }

  private let factors: (UInt64, UInt64)
  /// The entries by place. The number of places is a power of two, at most half of them occupied; an entry lies at the
  /// place that its ID hashes to, or at the first free place after that.
  private var entries: ContiguousArray<Entry?> = []
  private(set) var count = 0

  /// An empty map. All maps of a process use the same factors.
  init() { self.init(factors: randomFactors) }

  init(factors: (UInt64, UInt64)) { self.factors = factors }

  /// The elements, in no particular order.
  var values: some Sequence<Element> { entries.lazy.compactMap { $0?.element } }

  /// The IDs and their elements, in no particular order.
  var pairs: some Sequence<(id: ManagedObjectID, element: Element)> {
    entries.lazy.compactMap { $0.map { ($0.id, $0.element) } }
  }

  subscript(id: ManagedObjectID) -> Element? {
    get { count == 0 ? nil : entries[place(of: id)]?.element }
    set {
      if let newValue {
        reserveCapacity(count + 1)
        let place = place(of: id)
        if entries[place] == nil { count += 1 }
        entries[place] = Entry(id: id, element: newValue)
      } else if count > 0 {
        remove(at: place(of: id))
      }
    }
  }

  /// Sets the element of an ID; returns the previous element.
  mutating func update(_ element: Element, for id: ManagedObjectID) -> Element? {
    reserveCapacity(count + 1)
    let place = place(of: id)
    let old = entries[place]?.element
    if old == nil { count += 1 }
    entries[place] = Entry(id: id, element: element)
    return old
  }

  /// Removes the element of an ID if `isMeant` returns true for the element.
  mutating func remove(_ id: ManagedObjectID, where isMeant: (Element) -> Bool) {
    guard count > 0 else { return }
    let place = place(of: id)
    if let entry = entries[place], isMeant(entry.element) { remove(at: place) }
  }

  /// Makes room for `capacity` IDs in all.
  mutating func reserveCapacity(_ capacity: Int) {
    guard capacity * 2 > entries.count else { return }
    var size = max(entries.count, 8)
    while capacity * 2 > size { size *= 2 }
    let old = entries
    entries = ContiguousArray(repeating: nil, count: size)
    for case let entry? in old { entries[place(of: entry.id)] = entry }
  }

  // MARK: Places

  /// The place of an ID's entry, or the free place for a new entry. A free place always exists, as at most half are
  /// occupied.
  private func place(of id: ManagedObjectID) -> Int {
    var place = firstPlace(of: id)
    while let entry = entries[place], entry.id != id { place = next(place) }
    return place
  }

  /// The place that an ID hashes to.
  private func firstPlace(of id: ManagedObjectID) -> Int {
    let kind = UInt64(id.storeNumber) << 32 | UInt64(id.entitySymbol.number)
    let key = UInt64(bitPattern: id.key)
    let product = (key & ~Self.groupMask ^ factors.0).multipliedFullWidth(by: kind ^ factors.1)
    // The low bits of the product may hardly differ; the fixed factor mixes all bits into the middle.
    let mixed = (product.high ^ product.low) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (mixed >> 32) & ~Self.groupMask | key & Self.groupMask) & (entries.count - 1)
  }

  private func next(_ place: Int) -> Int { (place + 1) & (entries.count - 1) }

  /// Frees a place, and moves up later entries that a search would no longer reach.
  private mutating func remove(at place: Int) {
    guard entries[place] != nil else { return }
    var hole = place
    var candidate = next(hole)
    while let entry = entries[candidate] {
      if distance(firstPlace(of: entry.id), candidate) >= distance(hole, candidate) {
        entries[hole] = entry
        hole = candidate
      }
      candidate = next(candidate)
    }
    entries[hole] = nil
    count -= 1
  }

  /// The number of places from one place to another, around the end of the table.
  private func distance(_ from: Int, _ to: Int) -> Int { (to &- from) & (entries.count - 1) }

  /// The greatest distance of an entry from the place that its ID hashes to: the cost of the worst look-up.
  var greatestDistance: Int {
    entries.indices.reduce(0) { greatest, place in
      max(greatest, entries[place].map { distance(firstPlace(of: $0.id), place) } ?? 0)
    }
  }
}

private let randomFactors = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
