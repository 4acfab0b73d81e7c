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
    guard !deleted.isEmpty else { return nil }
    let entities = Set(deleted.map(\.entity.index))
    let slots = context.model.entities.map { entity in
      (entity.toOneSlots + entity.toManySlots).filter { slot in
        Self.isLoose(entity.properties[slot], in: context.model)
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
    let holders = context.looseLeads.holders(in: context)
    HostWork.note(holders.count)
    for object in holders {
      for slot in slots[object.entity.index] { object.forgetDestinations(gone, slot: slot) }
    }
  }

  /// Objects forget those that go without having been saved, which is a change of theirs.
  static func cut(toNew going: some Collection<ManagedObject>, in context: ManagedObjectContext) throws {
    for object in going {
      let leads = context.looseLeads.leads(to: object)
      HostWork.note(leads.count)
      // In the order in which they became changed, so that the same program does the same.
      for lead in leads.sorted(by: { ($0.object.changePosition, $0.slot) < ($1.object.changePosition, $1.slot) })
      where lead.object.context === context {
        try lead.object.release([object.objectID], slot: lead.slot)
      }
    }
  }

  /// To-one relationships are in the row, unless they are transient: what is in the row stays there.
  static func isLoose(_ property: ResolvedProperty, in model: ResolvedModel) -> Bool {
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
