import MoonbaseModel

/// The IDs that objects have now, by those that they had: undo groups know them by the IDs of their time.
struct LaterIDs {
  /// Where the ID was the n-th to become another one.
  private var later: [ManagedObjectID: (id: ManagedObjectID, number: Int)] = [:]
  /// IDs in the order in which they became others, without those that are forgotten.
  private var former: ContiguousArray<ManagedObjectID> = []
  private var forgottenCount = 0

  /// The bytes of one, by estimate.
  static let weight = 112

  /// How many IDs have become others up to now. Who notes this number needs none of before.
  var count: Int { forgottenCount + former.count }
  /// How many are not forgotten.
  var keptCount: Int { former.count }

  mutating func note(_ id: ManagedObjectID, after former: ManagedObjectID) {
    later[former] = (id, count)
    self.former.append(former)
  }

  /// The ID that an object has now. Of one that had many the way is shorter the next time.
  mutating func current(_ id: ManagedObjectID) -> ManagedObjectID {
    guard var now = later[id]?.id else { return id }
    guard later[now] != nil else { return now }
    while let next = later[now]?.id { now = next }
    var passed = id
    while let (next, number) = later[passed] {
      later[passed] = (now, number)
      passed = next
    }
    return now
  }

  /// Forgets those of before a number; returns how many. They go when they are half of all, so that this costs no more than noting them did.
  mutating func forget(before number: Int) -> Int {
    let count = number - forgottenCount
    guard count > 0, 2 * count >= former.count else { return 0 }
    for (index, id) in former.prefix(count).enumerated() where later[id]?.number == forgottenCount + index {
      later[id] = nil
    }
    former.removeFirst(count)
    forgottenCount = number
    return count
  }
}
