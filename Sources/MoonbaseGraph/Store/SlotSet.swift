import MoonbaseModel

/// A set of slots. Sets within the first 64 slots need no allocation.
struct SlotSet: Equatable {
  /// The slots below 64, as bits.
  private(set) var low: UInt64 = 0
  /// The slots from 64 on.
  private(set) var high: Set<Slot> = []

  init() {}

  init(low: UInt64, high: Set<Slot>) { (self.low, self.high) = (low, high) }

  var isEmpty: Bool { low == 0 && high.isEmpty }

  @inline(__always)
  func contains(_ slot: Slot) -> Bool {
    slot < 64 ? low & (1 << UInt64(slot)) != 0 : high.contains(slot)
  }

  @inline(__always)
  mutating func insert(_ slot: Slot) {
    if slot < 64 { low |= 1 << UInt64(slot) } else { high.insert(slot) }
  }

  mutating func remove(_ slot: Slot) {
    if slot < 64 { low &= ~(1 << UInt64(slot)) } else { high.remove(slot) }
  }

  mutating func formUnion(_ other: SlotSet) {
    low |= other.low
    if !other.high.isEmpty { high.formUnion(other.high) }
  }

  mutating func removeAll() { self = SlotSet() }

  /// The slots in ascending order.
  var slots: [Slot] {
    var result: [Slot] = []
    forEach { result.append($0) }
    return result
  }

  /// Passes the slots to `body` in ascending order.
  @inline(__always)
  func forEach(_ body: (Slot) throws -> Void) rethrows {
    var rest = low
    while rest != 0 {
      try body(rest.trailingZeroBitCount)
      rest &= rest - 1
    }
    if !high.isEmpty { try high.sorted().forEach(body) }
  }
}

extension SlotSet {
  init(_ slots: some Sequence<Slot>) {
    for slot in slots { insert(slot) }
  }
}
