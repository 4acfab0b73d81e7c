import MoonbaseModel

/// Maps former IDs of objects to their current IDs, for undo groups, which know objects by the IDs of their time.
struct RenamedIDs {
  /// For each former ID, the next ID and the number of the change.
  private var later: [ManagedObjectID: (id: ManagedObjectID, number: Int)] = [:]
  /// The former IDs that are not forgotten, in order of the changes.
  private var former: ContiguousArray<ManagedObjectID> = []
  private var forgottenCount = 0

  /// An estimate of the bytes of an entry.
  static let weight = 112

  /// The number of ID changes up to now. A group that records this number needs no earlier entries.
  var count: Int { forgottenCount + former.count }
  /// The number of entries.
  var keptCount: Int { former.count }

  /// Records that an object's ID changed.
  mutating func note(_ id: ManagedObjectID, after former: ManagedObjectID) {
    later[former] = (id, count)
    self.former.append(former)
  }

  /// The current ID of an object. Shortens the chain of a repeatedly changed ID for the next lookup.
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

  /// Forgets the entries before a number; returns how many.
  ///
  /// Entries are removed only when they are half of all, so that removal costs no more than insertion.
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
