import MoonbaseGraph
import MoonbaseModel

/// The last updates and the deletion of each object in a history, without values. An entry takes 24 bytes, and the
/// place of the object's first entry takes 20 bytes.
///
/// For each object, the entries form a linked list in an array, with the latest entry first.
/// Entries with the same names are merged, so that an object with thousands of equal updates needs
/// one entry.
struct LaterChanges {
  /// The position of a change in a history.
  struct Place {
    /// The number of the transaction.
    let transaction: Int64
    /// The number of the change, which increases with time.
    let change: Int64
  }

  /// An entry in the list of an object: the last change with a certain set of names, or the
  /// deletion.
  private struct Note {
    /// The last change with these names.
    var place: Place
    /// The index of the changed names in `sets`, or one of the constants for a deletion.
    let set: UInt32
    /// The index of the object's next entry.
    let next: UInt32
  }

  /// The number of sets of names that are stored as sets. Further sets are stored name by name.
  private static let greatestSetCount = 64
  /// The value of `next` for the last entry of a list.
  private static let end = UInt32.max
  /// The value of `set` for a deletion with a tombstone.
  private static let deletion = UInt32.max
  /// The value of `set` for a deletion whose tombstone is empty.
  private static let deletionWithoutTombstone = UInt32.max - 1

  /// The entries of all objects.
  private var notes: [Note] = []
  /// The index of the first entry of each object.
  private var heads: [ManagedObjectID: UInt32] = [:]
  /// The known sets of names.
  private var sets: [[String]] = []
  /// The index of each set in `sets`.
  private var numbers: [[String]: UInt32] = [:]

  /// Notes a change. Insertions are ignored, because no earlier change of the object can exist.
  ///
  /// - Parameters:
  ///   - change: The change, later than all changes noted before.
  ///   - transaction: The number of its transaction.
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

  /// Moves an existing entry to a later place, or adds an entry at the head of the object's list.
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

  /// The indexes that stand for a set of names. If the table of sets is full, the result has one
  /// index for each name.
  private mutating func sets(of names: [String]) -> [UInt32] {
    if let number = numbers[names] { return [number] }
    guard sets.count < Self.greatestSetCount || names.count < 2 else { return names.flatMap { sets(of: [$0]) } }
    let number = UInt32(sets.count)
    sets.append(names)
    numbers[names] = number
    return [number]
  }

  /// Passes the entries of an object to `body`, from the latest list entry to the first.
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
  ///
  /// - Parameters:
  ///   - id: The object.
  ///   - change: The number of a change. Updates up to it are ignored.
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
