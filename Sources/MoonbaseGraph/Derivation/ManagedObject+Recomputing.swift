package import MoonbaseModel

/// Updating stored derived attributes with the results of the current getters.
extension ManagedObject {
  /// Computes stored derived attributes, all or those named, and returns the names of the attributes that changed.
  ///
  /// The next save writes them. Use this for values that an older getter stored, or that a program without the
  /// extensions changed. Throws the getters' errors, and `.unknownName` for a name that is no stored derived attribute
  /// of the entity.
  @discardableResult
  public final func recomputeStoredAttributes(_ names: [String]? = nil) throws -> [String] {
    guard context != nil else { throw detachedError }
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
