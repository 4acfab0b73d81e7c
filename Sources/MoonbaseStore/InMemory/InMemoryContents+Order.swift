import MoonbaseModel

/// The order of ordered relationships, as saves state it.
extension InMemoryContents {
  /// Applies a saved order to the list of a relationship.
  mutating func arrange(_ change: StoreChanges.Links) {
    guard let order = change.order, let key = model.entity(of: change.owner)?.properties[change.slot].id else { return }
    // Moves the list out of the dictionary, so that changing it does not copy it.
    var list = orders[key]?.removeValue(forKey: change.owner) ?? MemberList()
    list.arrange(order) {
      destinationCount(of: change.owner, slot: change.slot)
    } rest: {
      destinations(of: change.owner, slot: change.slot)
    }
    orders[key, default: [:]][change.owner] = list
  }
}
