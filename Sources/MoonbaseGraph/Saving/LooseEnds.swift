import MoonbaseModel
import MoonbasePlatform

/// What still points at objects that are gone, where no delete rule could take it away: relationships without an inverse, and where
/// the deletion was saved also transient ones and those whose inverse has no delete rule.
struct LooseEnds {
  private let context: ManagedObjectContext
  private let gone: Set<ManagedObjectID>
  /// By entity: the relationships that may lead to one that is gone.
  private let slots: [[Slot]]

  /// What may point at objects whose deletion was saved; nil where nothing can.
  init?(to deleted: [ManagedObject], in context: ManagedObjectContext) {
    self.init(to: deleted, in: context, where: Self.isLoose)
  }

  /// What may point at objects that go without having been saved; nil where nothing can.
  init?(toNew deleted: [ManagedObject], in context: ManagedObjectContext) {
    self.init(to: deleted, in: context) { property, _ in property.relationship?.inverseSlot == nil }
  }

  private init?(
    to deleted: [ManagedObject], in context: ManagedObjectContext,
    where isLoose: (ResolvedProperty, ResolvedModel) -> Bool
  ) {
    guard !deleted.isEmpty else { return nil }
    let entities = Set(deleted.map(\.entity.index))
    let slots = context.model.entities.map { entity in
      (entity.toOneSlots + entity.toManySlots).filter { slot in
        isLoose(entity.properties[slot], context.model)
          && entities.contains { Self.leads(entity.properties[slot], to: $0, in: context.model) }
      }
    }
    guard slots.contains(where: { !$0.isEmpty }) else { return nil }
    self.context = context
    self.slots = slots
    gone = Set(deleted.map(\.objectID))
  }

  /// Objects forget those that are gone.
  func cut() {
    HostWork.note(context.registered.count)
    for entry in context.registered.values {
      let object = entry.takeUnretainedValue()
      for slot in slots[object.entity.index] { object.forgetDestinations(gone, slot: slot) }
    }
  }

  /// Objects forget those that are gone without having been saved, which is a change of theirs.
  func cutUnsaved() throws {
    HostWork.note(context.registered.count)
    for object in context.registeredObjects {
      for slot in slots[object.entity.index] { try object.release(gone, slot: slot) }
    }
  }

  /// To-one relationships are in the row, unless they are transient: what is in the row stays there.
  private static func isLoose(_ property: ResolvedProperty, in model: ResolvedModel) -> Bool {
    guard let relationship = property.relationship else { return false }
    if property.isTransient { return true }
    guard relationship.isToMany else { return false }
    guard let inverse = relationship.inverseSlot else { return true }
    return model.destination(of: relationship).properties[inverse].relationship?.description.deleteRule
      == .noAction
  }

  private static func leads(_ property: ResolvedProperty, to entity: EntityIndex, in model: ResolvedModel) -> Bool {
    property.relationship.map { model.entities[$0.destination].subtree.contains(entity) } ?? false
  }
}
