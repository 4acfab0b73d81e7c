import MoonbaseModel
import MoonbasePlatform

/// The relationships that still point at deleted objects because no delete rule clears them: relationships without an
/// inverse and, after the deletion was saved, also transient relationships and those whose inverse has the rule
/// `noAction`.
///
/// Core Data leaves such references as faults that cannot fire; here they become null.
struct UnclearedReferences {
  /// The context of the objects.
  private let context: ManagedObjectContext
  /// The IDs of the deleted objects.
  private let gone: Set<ManagedObjectID>
  /// For each entity, the relationships that may point at a deleted object.
  private let slots: [[Slot]]

  /// The relationships that may point at objects whose deletion was saved; nil if there are none.
  init?(to deleted: [ManagedObject], in context: ManagedObjectContext) {
    guard !deleted.isEmpty else { return nil }
    let entities = Set(deleted.map(\.entity.index))
    let slots = context.model.entities.map { entity in
      (entity.toOneSlots + entity.toManySlots).filter { slot in
        UnclearedReferenceIndex.isLoose(entity.properties[slot], in: context.model)
          && entities.contains { Self.leads(entity.properties[slot], to: $0, in: context.model) }
      }
    }
    guard slots.contains(where: { !$0.isEmpty }) else { return nil }
    self.context = context
    self.slots = slots
    gone = Set(deleted.map(\.objectID))
  }

  /// Removes the deleted objects from these relationships. Only holders that the index knows are visited.
  func cut() {
    let holders = context.deletions.unclearedReferences.holders(in: context)
    HostWork.note(holders.count)
    for object in holders {
      for slot in slots[object.entity.index] { object.forgetDestinations(gone, slot: slot) }
    }
  }

  /// Removes new, unsaved objects from relationships that point at them, which counts as a change of the owners. Throws
  /// errors of changing the owners.
  static func cut(toNew going: some Collection<ManagedObject>, in context: ManagedObjectContext) throws {
    for object in going {
      let leads = context.deletions.unclearedReferences.leads(to: object)
      HostWork.note(leads.count)
      // Sorted by the order in which the owners became changed, so that the result is deterministic.
      for lead in leads.sorted(by: { ($0.object.changePosition, $0.slot) < ($1.object.changePosition, $1.slot) })
      where lead.object.context === context {
        try lead.object.release([object.objectID], slot: lead.slot)
      }
    }
  }

  /// Whether objects of an entity can be destinations of a relationship. Subentities count.
  private static func leads(_ property: ResolvedProperty, to entity: EntityIndex, in model: ResolvedModel) -> Bool {
    property.relationship.map { model.entities[$0.destination].subtree.contains(entity) } ?? false
  }
}
