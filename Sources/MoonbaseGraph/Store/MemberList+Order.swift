import MoonbaseModel

extension MemberList {
  /// Brings the list of an ordered relationship into the order that a save says; those that came or moved are put in.
  ///
  /// `count` is how many destinations there are and `rest` which: of some no save may have said where they stand, and these stand behind
  /// the others.
  mutating func arrange(_ order: StoreChanges.Order, count: () -> Int, rest: () -> [ManagedObjectID]) {
    switch order {
    case .all(let ids): self = MemberList(unique: ids)
    case .stretches(let stretches):
      for stretch in stretches {
        for index in stretch.moved { remove(stretch.ids[index], keepingOrder: true) }
      }
      if !stretches.allSatisfy({ $0.isBesideOthers(of: &self) }) {
        let moved = Set(stretches.flatMap { stretch in stretch.moved.map { stretch.ids[$0] } })
        for id in rest() where !moved.contains(id) { append(id) }
      }
      for stretch in stretches { stretch.insert(into: &self) }
    case .appended(let ids, let returned):
      for id in returned { remove(id, keepingOrder: true) }
      let coming = ids.filter { !contains($0) }
      if self.count + coming.count < count() {
        let moved = Set(coming)
        for id in rest() where !moved.contains(id) { append(id) }
      }
      for id in coming { append(id) }
    }
  }
}

extension StoreChanges.Stretch {
  /// Whether those that stay are there, so that it shows where those that moved belong.
  fileprivate func isBesideOthers(of list: inout MemberList) -> Bool {
    let moved = Set(moved)
    return ids.indices.allSatisfy { moved.contains($0) || list.contains(ids[$0]) }
  }

  /// Puts those that moved, which are not in the list, behind those that stand before them.
  fileprivate func insert(into list: inout MemberList) {
    for index in moved {
      // Whoever stands before may be gone, and that is told elsewhere.
      let place = index > 0 ? list.index(of: ids[index - 1]).map { $0 + 1 } ?? list.count : 0
      if list.append(ids[index]) { list.move(from: list.count - 1, to: place) }
    }
  }
}
