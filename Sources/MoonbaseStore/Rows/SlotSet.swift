public import MoonbaseModel

/// A set of slots. Sets within the first 64 slots need no allocation.
@usableFromInline
package struct SlotSet: Equatable, Sendable {
  /// The slots below 64, as bits.
  @usableFromInline package internal(set) var low: UInt64 = 0
  /// The slots from 64 on.
  @usableFromInline package internal(set) var high: Set<Slot> = []

  @inlinable
  package init() {}

  @inlinable
  package init(low: UInt64, high: Set<Slot>) { (self.low, self.high) = (low, high) }

  @inlinable
  package var isEmpty: Bool { low == 0 && high.isEmpty }

  @inlinable
  @inline(__always)
  package func contains(_ slot: Slot) -> Bool {
    slot < 64 ? low & (1 << UInt64(slot)) != 0 : high.contains(slot)
  }

  @inlinable
  @inline(__always)
  package mutating func insert(_ slot: Slot) {
    if slot < 64 { low |= 1 << UInt64(slot) } else { high.insert(slot) }
  }

  @inlinable
  package mutating func remove(_ slot: Slot) {
    if slot < 64 { low &= ~(1 << UInt64(slot)) } else { high.remove(slot) }
  }

  @inlinable
  package mutating func formUnion(_ other: SlotSet) {
    low |= other.low
    if !other.high.isEmpty { high.formUnion(other.high) }
  }

  @inlinable
  package mutating func removeAll() { self = SlotSet() }

  /// The slots in ascending order.
  @inlinable
  package var slots: [Slot] {
    var result: [Slot] = []
    forEach { result.append($0) }
    return result
  }

  /// Passes the slots to `body` in ascending order.
  @inlinable
  @inline(__always)
  package func forEach(_ body: (Slot) throws -> Void) rethrows {
    var rest = low
    while rest != 0 {
      try body(rest.trailingZeroBitCount)
      rest &= rest - 1
    }
    if !high.isEmpty { try high.sorted().forEach(body) }
  }
}

extension SlotSet {
  @inlinable
  package init(_ slots: some Sequence<Slot>) {
    for slot in slots { insert(slot) }
  }
}
