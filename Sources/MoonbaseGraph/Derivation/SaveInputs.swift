import MoonbaseModel

/// The inputs of the stored derived values of one save: rows and lists of destinations that getters read, and those by
/// which the owners of values are looked up.
///
/// The save compares these inputs with its store once it holds that. It checks the versions of rows that it writes
/// anyway.
struct SaveInputs {
  /// A to-many relationship of an object.
  struct List: Hashable {
    let owner: ManagedObjectID
    let slot: Slot
  }

  /// The versions of the rows that were read; nil for an object whose row was not here.
  private(set) var versions: [ManagedObjectID: Int64?] = [:]
  /// The lists as they were when they were read first.
  private(set) var lists: [List: ToManyState.Contents] = [:]

  var isEmpty: Bool { versions.isEmpty && lists.isEmpty }

  mutating func note(_ id: ManagedObjectID, version: Int64?) {
    if id.isTemporaryID { return }
    guard let known = versions[id] else { return versions[id] = .some(version) }
    if known == nil, let version { versions[id] = .some(version) }
  }

  /// Adds the version of a row that was read after its object was noted.
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
