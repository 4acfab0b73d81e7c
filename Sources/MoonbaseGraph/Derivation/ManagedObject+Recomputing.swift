package import MoonbaseModel

/// Bringing stored derived attributes up to date with what computes them now.
extension ManagedObject {
  /// Computes stored derived attributes, those of some names or all, and gives the names of those that have another
  /// value now, which the next save writes.
  ///
  /// For values that were stored by former code, or changed by programs that knew nothing of it. Throws what a getter
  /// throws, and `.unknownName` for a name that is no stored derived attribute of the entity.
  @discardableResult
  public final func recomputeStoredAttributes(_ names: [String]? = nil) throws -> [String] {
    guard context != nil else { throw goneError }
    let behavior = try behavior()
    let slots = try names?.map(storedSlot) ?? behavior.storedSlots.sorted()
    var changed: [String] = []
    for slot in slots {
      guard let derived = behavior.stored(slot) else { continue }
      cache(nil, slot: slot)
      if try keep(derived, in: slot, following: true) { changed.append(derived.name) }
    }
    return changed
  }

  private func storedSlot(_ name: String) throws -> Slot {
    let slot = try slot(of: name)
    if try behavior().stored(slot) != nil { return slot }
    throw GraphError(
      .unknownName, message: "\(entity.name).\(name) is no stored derived attribute: nothing computes it for the store",
      entity: entity.name, property: name, objectID: objectID)
  }
}

extension ManagedObjectContext {
  /// The names of an entity's stored derived attributes.
  package func storedAttributeNames(of entity: ResolvedEntity) throws -> [String] {
    let behavior = try behavior(of: entity)
    return behavior.storedSlots.sorted().map { entity.property(at: $0).name }
  }
}
