import MoonbaseGraph
import MoonbaseModel

/// The last updates and the deletion of each object in a history, without values. An entry takes 24 bytes, and the
/// place of the object's first entry takes 20 bytes.
struct LaterChanges {
  /// The position of a change in a history.
  struct Place {
    let transaction: Int64
    let change: Int64
  }

  private struct Note {
    var place: Place
    /// The index of the changed names in `sets`, or one of the constants for a deletion.
    let set: UInt32
    /// The index of the object's next entry.
    let next: UInt32
  }

  /// The number of sets of names that are stored as sets. Further sets are stored name by name.
  private static let greatestSetCount = 64
  private static let end = UInt32.max
  private static let deletion = UInt32.max
  private static let deletionWithoutTombstone = UInt32.max - 1

  private var notes: [Note] = []
  private var heads: [ManagedObjectID: UInt32] = [:]
  private var sets: [[String]] = []
  private var numbers: [[String]: UInt32] = [:]

  mutating func note(_ change: PersistentHistoryChange, of transaction: Int64) {
    let place = Place(transaction: transaction, change: change.changeID)
    switch change.changeType {
    case .insert: break
    case .delete:
      note(change.tombstone.isEmpty ? Self.deletionWithoutTombstone : Self.deletion, place, change.changedObjectID)
    case .update:
      for set in sets(of: change.updatedProperties) { note(set, place, change.changedObjectID) }
    }
  }

  private mutating func note(_ set: UInt32, _ place: Place, _ id: ManagedObjectID) {
    let head = heads[id] ?? Self.end
    var number = head
    while number != Self.end {
      if notes[Int(number)].set == set {
        notes[Int(number)].place = place
        return
      }
      number = notes[Int(number)].next
    }
    heads[id] = UInt32(notes.count)
    notes.append(Note(place: place, set: set, next: head))
  }

  private mutating func sets(of names: [String]) -> [UInt32] {
    if let number = numbers[names] { return [number] }
    guard sets.count < Self.greatestSetCount || names.count < 2 else { return names.flatMap { sets(of: [$0]) } }
    let number = UInt32(sets.count)
    sets.append(names)
    numbers[names] = number
    return [number]
  }

  private func forEachNote(of id: ManagedObjectID, _ body: (Note) -> Void) {
    var number = heads[id] ?? Self.end
    while number != Self.end {
      body(notes[Int(number)])
      number = notes[Int(number)].next
    }
  }

  // MARK: Later changes

  /// The names of the properties that updates after a change name. Nil stands for all properties, if an update contains
  /// no names.
  func names(of id: ManagedObjectID, after change: Int64) -> Set<String>? {
    var (names, areAll) = (Set<String>(), false)
    forEachNote(of: id) { note in
      guard note.set < Self.deletionWithoutTombstone, note.place.change > change else { return }
      let set = sets[Int(note.set)]
      if set.isEmpty { areAll = true } else { names.formUnion(set) }
    }
    return areAll ? nil : names
  }

  /// Whether an object was deleted.
  func isDeleted(_ id: ManagedObjectID) -> Bool {
    var isDeleted = false
    forEachNote(of: id) { isDeleted = isDeleted || $0.set >= Self.deletionWithoutTombstone }
    return isDeleted
  }

  /// The deletion of an object if its tombstone still exists.
  func deletion(of id: ManagedObjectID) -> Place? {
    var place: Place?
    forEachNote(of: id) { if $0.set == Self.deletion { place = $0.place } }
    return place
  }
}
