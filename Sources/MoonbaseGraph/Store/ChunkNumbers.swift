import MoonbaseModel

/// The number of the chunk that each ID of a list lies in.
///
/// A copy shares all but the part in which one of the two changes something: there are about as many parts as a part has IDs. So a list of many
/// that is kept beside a changed one of the same costs the root of their number.
struct ChunkNumbers {
  private var parts: ContiguousArray<[ManagedObjectID: UInt32]> = [[:]]
  private var count = 0
  /// A part grows to this before there are more of them.
  private static let leastSize = 256

  /// No IDs, and room for some.
  init(capacity: Int) {
    while isCrowded(capacity) { parts += parts }
    if parts.count == 1 { parts[0].reserveCapacity(capacity) }
  }

  subscript(id: ManagedObjectID) -> UInt32? { parts[part(of: id)][id] }

  /// Puts an ID into a chunk; returns the one in which it was.
  @discardableResult
  mutating func update(_ number: UInt32, of id: ManagedObjectID) -> UInt32? {
    let old = parts[part(of: id)].updateValue(number, forKey: id)
    if old == nil {
      count &+= 1
      if isCrowded(count) { divide() }
    }
    return old
  }

  mutating func remove(_ id: ManagedObjectID) {
    if parts[part(of: id)].removeValue(forKey: id) != nil { count &-= 1 }
  }

  /// Keys mostly follow each other: eight neighbours lie together, and the next eight elsewhere.
  @inline(__always)
  private func part(of id: ManagedObjectID) -> Int {
    if parts.count == 1 { return 0 }
    let mixed = (UInt64(bitPattern: id.key) >> 3) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 40) & (parts.count &- 1)
  }

  private func isCrowded(_ count: Int) -> Bool {
    count > Self.leastSize &* parts.count && count > parts.count &* parts.count
  }

  private mutating func divide() {
    let old = parts
    parts = []
    // Room for all that come before there are more parts: one that grew by and by would hash all it has again each time.
    let room = max(Self.leastSize, 2 &* old.count)
    for _ in 0..<2 &* old.count { parts.append(Dictionary(minimumCapacity: room)) }
    for part in old {
      for (id, number) in part { parts[self.part(of: id)][id] = number }
    }
  }

  /// In how many parts two of them differ, for tests: those that they do not share.
  func unsharedCount(with other: ChunkNumbers) -> Int {
    guard parts.count == other.parts.count else { return parts.count }
    func storage(_ part: [ManagedObjectID: UInt32]) -> UInt {
      unsafeBitCast(part, to: UInt.self)  // a dictionary is one reference to its storage, which is only compared
    }
    return zip(parts, other.parts).count { storage($0) != storage($1) }
  }
}
