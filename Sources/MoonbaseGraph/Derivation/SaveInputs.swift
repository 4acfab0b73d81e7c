import MoonbaseModel

/// What the stored derived values of one save are computed from: rows and lists of destinations, as they were when a
/// getter read them or when the owners of values were looked up by them.
///
/// The save compares them with what its store has once nobody else writes there. Rows that it writes are compared by
/// it anyway.
struct SaveInputs {
  /// A to-many relationship of an object.
  struct List: Hashable {
    let owner: ManagedObjectID
    let slot: Slot
  }

  /// The versions of rows. Nil stands for one of which no row was here.
  private(set) var versions: [ManagedObjectID: Int64?] = [:]
  private(set) var lists: [List: ToManyState.Contents] = [:]

  var isEmpty: Bool { versions.isEmpty && lists.isEmpty }

  mutating func note(_ id: ManagedObjectID, version: Int64?) {
    if id.isTemporaryID { return }
    guard let known = versions[id] else { return versions[id] = .some(version) }
    if known == nil, let version { versions[id] = .some(version) }
  }

  /// A row was read whose object is noted already.
  mutating func noteVersion(_ version: Int64, of id: ManagedObjectID) {
    if let known = versions[id], known == nil { versions[id] = .some(version) }
  }

  mutating func note(_ list: List, _ contents: @autoclosure () -> ToManyState.Contents) {
    if lists[list] == nil { lists[list] = contents() }
  }
}

extension ManagedObjectContext {
  /// Notes a list by which the owners of stored values are looked up.
  func noteInput(_ object: ManagedObject, _ slot: Slot) {
    derivations.noteOwnerInput(object.objectID, version: object.rowVersion)
    if let state = object.relationships[slot] { noteInput(state, of: object, slot) }
  }

  /// Notes a list that a getter reads.
  func noteInput(_ state: ToManyState, of object: ManagedObject, _ slot: Slot) {
    guard object.isList(slot), !object.objectID.isTemporaryID else { return }
    derivations.noteInput(of: SaveInputs.List(owner: object.objectID, slot: slot), state.contents)
  }
}
