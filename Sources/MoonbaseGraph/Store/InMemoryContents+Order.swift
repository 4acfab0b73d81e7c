import MoonbaseModel

/// The order of ordered relationships, as saves say it.
extension InMemoryContents {
  mutating func arrange(_ change: StoreChanges.Links) {
    guard let order = change.order, let key = model.entity(of: change.owner)?.properties[change.slot].id else { return }
    // Taken out, so that it is not copied when it changes.
    var list = orders[key]?.removeValue(forKey: change.owner) ?? MemberList()
    switch order {
    case .all(let ids): list = MemberList(unique: ids)
    case .stretches(let stretches):
      for stretch in stretches {
        for index in stretch.moved { list.remove(stretch.ids[index], keepingOrder: true) }
      }
      if !stretches.allSatisfy({ $0.isBesideOthers(of: &list) }) {
        let moved = Set(stretches.flatMap { stretch in stretch.moved.map { stretch.ids[$0] } })
        takeRest(into: &list, of: change, but: moved)
      }
      for stretch in stretches { stretch.insert(into: &list) }
    case .appended(let ids, let returned):
      for id in returned { list.remove(id, keepingOrder: true) }
      let coming = ids.filter { !list.contains($0) }
      if list.count + coming.count < destinationCount(of: change.owner, slot: change.slot) {
        takeRest(into: &list, of: change, but: Set(coming))
      }
      for id in coming { list.append(id) }
    }
    orders[key, default: [:]][change.owner] = list
  }

  /// Puts those of which no save said where they stand behind the others.
  private func takeRest(
    into list: inout MemberList, of change: StoreChanges.Links, but moved: Set<ManagedObjectID>
  ) {
    for id in destinations(of: change.owner, slot: change.slot) where !moved.contains(id) { list.append(id) }
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
