package import MoonbaseModel

/// A map from slots to elements, stored in order of insertion.
///
/// Most objects have at most two elements, for which a linear search is faster than hashing, and smaller.
package struct SlotMap<Element>: Sequence, ExpressibleByDictionaryLiteral {
  private struct Entry {
    var key: Slot
    var value: Element
  }

  private var entries: [Entry] = []

  package init(dictionaryLiteral elements: (Int, Element)...) {
    for (slot, element) in elements { self[slot] = element }
  }

  var isEmpty: Bool { entries.isEmpty }
  var keys: [Int] { entries.map(\.key) }
  var values: [Element] { entries.map(\.value) }

  /// The element of a slot; nil removes it.
  subscript(slot: Slot) -> Element? {
    get {
      for entry in entries where entry.key == slot { return entry.value }
      return nil
    }
    set {
      for index in entries.indices where entries[index].key == slot {
        if let newValue { entries[index].value = newValue } else { entries.remove(at: index) }
        return
      }
      if let newValue { entries.append(Entry(key: slot, value: newValue)) }
    }
  }

  /// The result of `body` for the element of a slot, which is passed without a copy; nil without an element.
  @inline(__always)
  func first<Result>(_ slot: Slot, _ body: (UnsafePointer<Element>) -> Result?) -> Result? {
    entries.withUnsafeBufferPointer { entries in
      guard var entry = entries.baseAddress, let offset = MemoryLayout<Entry>.offset(of: \.value) else { return nil }
      for _ in 0..<entries.count {
        if entry.pointee.key == slot {
          return body((UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: Element.self))
        }
        entry += 1
      }
      return nil
    }
  }

  /// The sum of the results of `body` over all elements, which are passed without copies.
  @inline(__always)
  func sum(_ body: (UnsafePointer<Element>) -> Int) -> Int {
    var sum = 0
    _ = slots { _, element in
      sum += body(element)
      return false
    }
    return sum
  }

  /// The slots whose elements satisfy `body`, which are passed without copies.
  @inline(__always)
  func slots(where body: (Slot, UnsafePointer<Element>) -> Bool) -> SlotSet {
    entries.withUnsafeBufferPointer { entries in
      var slots = SlotSet()
      guard var entry = entries.baseAddress, let offset = MemoryLayout<Entry>.offset(of: \.value) else { return slots }
      for _ in 0..<entries.count {
        let element = (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: Element.self)
        if body(entry.pointee.key, element) { slots.insert(entry.pointee.key) }
        entry += 1
      }
      return slots
    }
  }

  package func makeIterator() -> some IteratorProtocol<(key: Slot, value: Element)> {
    entries.lazy.map { (key: $0.key, value: $0.value) }.makeIterator()
  }

  func filter(_ isIncluded: ((key: Slot, value: Element)) throws -> Bool) rethrows -> SlotMap {
    var result = SlotMap()
    result.entries = try entries.filter { try isIncluded((key: $0.key, value: $0.value)) }
    return result
  }
}
