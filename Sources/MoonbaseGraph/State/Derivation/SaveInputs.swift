import MoonbaseModel

/// The inputs of the stored derived values in one save.
///
/// They are the rows and destination lists that getters read, and the lists by which the owners of values are found.
/// The save compares them with the store once its session holds the store. The versions of rows that the save
/// writes are checked anyway.
struct SaveInputs {
  /// A to-many relationship of one object.
  struct List: Hashable {
    let owner: ManagedObjectID
    let slot: Slot
  }

  /// The versions of the rows that were read; nil for an object whose row was not in memory.
  private(set) var versions: [ManagedObjectID: Int64?] = [:]
  /// The lists at the time of the first read.
  private(set) var lists: [List: ToManyState.Contents] = [:]

  var isEmpty: Bool { versions.isEmpty && lists.isEmpty }

  /// Records an object that a getter reads, with the version of its row if known.
  mutating func note(_ id: ManagedObjectID, version: Int64?) {
    if id.isTemporaryID { return }
    guard let known = versions[id] else { return versions[id] = .some(version) }
    if known == nil, let version { versions[id] = .some(version) }
  }

  /// Sets the version of a row that was read after its object was recorded.
  mutating func noteVersion(_ version: Int64, of id: ManagedObjectID) {
    if let known = versions[id], known == nil { versions[id] = .some(version) }
  }

  /// Records a list that a getter reads.
  mutating func note(_ list: List, _ contents: @autoclosure () -> ToManyState.Contents) {
    if lists[list] == nil { lists[list] = contents() }
  }
}
