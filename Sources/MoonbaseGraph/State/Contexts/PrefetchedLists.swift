import MoonbaseModel

/// Destinations that were read ahead, for objects that may not exist yet.
///
/// Bounded: two generations of at most `capacity` IDs. Lists that were dropped or are too long are read on demand.
struct PrefetchedLists {
  private static let capacity = 1 << 16

  private var young: [PrefetchKey: [ManagedObjectID]] = [:]
  private var old: [PrefetchKey: [ManagedObjectID]] = [:]
  private var weight = 0

  /// The number of lists.
  var count: Int { young.count + old.count }

  /// Keeps a list, unless it exceeds the capacity.
  mutating func insert(_ list: [ManagedObjectID], for key: PrefetchKey) {
    guard list.count < Self.capacity else { return }
    young[key] = list
    weight += 1 + list.count
    guard weight > Self.capacity else { return }
    (old, young, weight) = (young, [:], 0)
  }

  /// The list for a relationship; nil if it was not read ahead, or was dropped.
  subscript(key: PrefetchKey) -> [ManagedObjectID]? { young[key] ?? old[key] }
}

/// A to-many relationship of one object.
struct PrefetchKey: Hashable {
  var id: ManagedObjectID
  var slot: Slot
}
