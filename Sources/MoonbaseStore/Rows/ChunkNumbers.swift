import MoonbaseModel

/// The number of the chunk in which each ID of a list lies.
///
/// The hash is divided into parts, about as many as each part has IDs. A copy shares all parts except those that either
/// copy changes afterwards, so keeping a copy beside a changed list costs about the square root of the number of IDs.
struct ChunkNumbers {
  private var parts: ContiguousArray<[ManagedObjectID: UInt32]> = [[:]]
  private var count = 0
  /// The size to which a part grows before the number of parts is doubled.
  private static let leastSize = 256

  /// An empty hash with room for `capacity` IDs.
  init(capacity: Int) {
    while isCrowded(capacity) { parts += parts }
    if parts.count == 1 { parts[0].reserveCapacity(capacity) }
  }

  subscript(id: ManagedObjectID) -> UInt32? { parts[part(of: id)][id] }

  /// Assigns an ID to a chunk; returns the number of its former chunk, or nil for a new ID.
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

  /// The index of an ID's part. Keys are mostly consecutive: eight neighbours share a part, the next eight lie in
  /// another.
  @inline(__always)
  private func part(of id: ManagedObjectID) -> Int {
    if parts.count == 1 { return 0 }
    let mixed = (UInt64(bitPattern: id.key) >> 3) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 40) & (parts.count &- 1)
  }

  /// Whether so many IDs need more parts.
  private func isCrowded(_ count: Int) -> Bool {
    count > Self.leastSize &* parts.count && count > parts.count &* parts.count
  }

  /// Doubles the number of parts.
  private mutating func divide() {
    let old = parts
    parts = []
    // Reserves room for all IDs that arrive before the next division: growing step by step would rehash each part
    // repeatedly.
    let room = max(Self.leastSize, 2 &* old.count)
    for _ in 0..<2 &* old.count { parts.append(Dictionary(minimumCapacity: room)) }
    for part in old {
      for (id, number) in part { parts[self.part(of: id)][id] = number }
    }
  }

  /// The number of parts that two copies do not share. For tests.
  func unsharedCount(with other: ChunkNumbers) -> Int {
    guard parts.count == other.parts.count else { return parts.count }
    func storage(_ part: [ManagedObjectID: UInt32]) -> UInt {
      unsafeBitCast(part, to: UInt.self)  // a dictionary is one reference to its storage; the bits are only compared
    }
    return zip(parts, other.parts).count { storage($0) != storage($1) }
  }
}
