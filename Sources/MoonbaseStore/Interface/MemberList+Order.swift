import MoonbaseModel

extension MemberList {
  /// Applies the order that a save states for an ordered relationship, and inserts new and moved destinations.
  ///
  /// `count` returns the number of destinations and `rest` the destinations themselves. Destinations without a saved
  /// position come after the positioned ones.
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
  /// Whether the list has all unmoved destinations of the stretch, so that they determine the places of the moved ones.
  fileprivate func isBesideOthers(of list: inout MemberList) -> Bool {
    let moved = Set(moved)
    return ids.indices.allSatisfy { moved.contains($0) || list.contains(ids[$0]) }
  }

  /// Inserts the moved destinations, which are not in the list, each behind its predecessor in the stretch.
  fileprivate func insert(into list: inout MemberList) {
    for index in moved {
      // The predecessor may be gone; its removal is a separate change.
      let place = index > 0 ? list.index(of: ids[index - 1]).map { $0 + 1 } ?? list.count : 0
      if list.append(ids[index]) { list.move(from: list.count - 1, to: place) }
    }
  }
}
