package import MoonbaseModel

extension ResolvedProperty {
  /// Whether a to-many relationship has links or an order that rows do not hold.
  package var hasLinks: Bool {
    guard let relationship, relationship.isToMany else { return false }
    return relationship.inverseSlot == nil || relationship.isManyToMany || relationship.isOrdered
  }
}

extension StoreChanges.Links {
  /// All links of an object's to-many relationship, for a store that has none of them yet; nil if there are none. Only
  /// one side of a two-sided relationship lists a link.
  package init?(
    all members: [ManagedObjectID], of owner: ManagedObjectID, _ property: ResolvedProperty, in model: ResolvedModel
  ) {
    guard let relationship = property.relationship, !members.isEmpty else { return nil }
    /// Whether this side lists the link to a destination.
    func isSaidHere(_ destination: ManagedObjectID) -> Bool {
      guard let inverse = relationship.inverseSlot else { return true }
      guard relationship.isManyToMany else { return false }
      let other = model.destination(of: relationship).properties[inverse].id
      return property.id == other ? owner.key <= destination.key : property.id < other
    }
    let added = members.filter(isSaidHere)
    guard relationship.isOrdered || !added.isEmpty else { return nil }
    self.init(
      owner: owner, slot: property.slot, added: added, removed: [],
      order: relationship.isOrdered ? .all(members) : nil)
  }
}
