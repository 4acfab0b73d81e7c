import MoonbaseModel
import MoonbasePlatform

/// Applies the delete rules of one deleted object to the objects it points at.
///
/// `deny` is checked later, at validation, when everything that goes is known to go.
struct DeletePropagation {
  let object: ManagedObject
  let context: ManagedObjectContext

  func run() throws {
    for slot in object.entity.toOneSlots + object.entity.toManySlots {
      guard let relationship = object.entity.properties[slot].relationship else { continue }
      let rule = relationship.description.deleteRule
      if rule == .noAction { continue }
      for id in try destinations(slot) {
        try HostWork.charge()
        guard let destination = try context.objectIfPresent(with: id) else { continue }
        if rule == .cascade { try context.delete(destination) }
        if rule != .deny, let inverse = relationship.inverseSlot, !destination.isDeleted {
          try destination.detach(object.objectID, slot: inverse)
        }
      }
    }
  }

  private func destinations(_ slot: Slot) throws -> [ManagedObjectID] {
    if case .toMany = object.entity.properties[slot].kind { return try object.memberIDs(slot) }
    if case .objectID(let id) = try object.stored(slot) { return [id] }
    return try object.oneSidedPartners(slot).map(\.objectID)
  }
}
