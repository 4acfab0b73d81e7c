/// A list of distinct objects in order of insertion.
///
/// Compares addresses. Elements are hashed only when a duplicate is possible.
struct DistinctObjects {
  private(set) var elements: [ManagedObject] = []
  private var known = AddressSet()
  /// The number of elements that `known` contains.
  private var knownCount = 0

  /// Appends an object unless the list contains it.
  mutating func append(_ object: ManagedObject) {
    if elements.last === object { return }
    learnAll()
    guard known.insert(object) else { return }
    knownCount += 1
    elements.append(object)
  }

  /// Appends those objects that the list lacks; the argument contains no duplicates.
  mutating func append(distinct objects: [ManagedObject]) {
    guard !elements.isEmpty else { return elements = objects }
    for object in objects { append(object) }
  }

  private mutating func learnAll() {
    while knownCount < elements.count {
      _ = known.insert(elements[knownCount])
      knownCount += 1
    }
  }
}

/// A set of object addresses; the objects are retained elsewhere.
private struct AddressSet {
  private var places: ContiguousArray<UInt> = []
  private var count = 0
  private var shift: UInt64 = 64

  /// Inserts an object; returns whether it was absent.
  mutating func insert(_ object: ManagedObject) -> Bool {
    if count * 2 >= places.count { grow() }
    return add(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
  }

  private mutating func add(_ address: UInt) -> Bool {
    // Multiplying by 2^64 divided by the golden ratio scatters addresses, whose lowest bits are equal.
    var place = Int(truncatingIfNeeded: (UInt64(address) &* 0x9E37_79B9_7F4A_7C15) >> shift)
    while places[place] != 0 {
      if places[place] == address { return false }
      place = (place + 1) & (places.count - 1)
    }
    places[place] = address
    count += 1
    return true
  }

  private mutating func grow() {
    let former = places
    places = ContiguousArray(repeating: 0, count: max(16, former.count * 2))
    shift = UInt64(64 - places.count.trailingZeroBitCount)
    count = 0
    for address in former where address != 0 { _ = add(address) }
  }
}
