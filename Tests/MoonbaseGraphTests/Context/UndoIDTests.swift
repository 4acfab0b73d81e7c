import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Undo and redo of new objects whose IDs become permanent before or after.
@Suite struct UndoIDTests {
  /// Two saved objects, `mother` and `ann`, and a new `child`: the mother's deletion cascades to the child, and the
  /// child is Ann's friend.
  private struct Family {
    let bench: StoreBench
    let (context, undo): (ManagedObjectContext, UndoManager)
    let (ann, mother, child): (ManagedObject, ManagedObject, ManagedObject)

    init(_ kind: StoreKind, _ isPermanent: Bool) throws {
      bench = try StoreBench(kind, ReferenceModel.model())
      (context, undo) = undoing(bench.context())
      (ann, mother) = (try context.insert("Node"), try context.insert("Node"))
      try context.save()
      child = try context.insert("Node", values: ["parent": .objectID(mother.objectID)])
      if isPermanent { try context.obtainPermanentIDs(for: [child]) }
      try ann.add(child, to: "friends")
    }
  }

  /// A new object whose permanent ID was obtained before a save is restored with that ID, since earlier references use
  /// that ID.
  @Test(arguments: StoreKind.withFolder, [false, true])
  func aNewObjectComesBackUnderTheKeyThatWasSetAsideForIt(_ kind: StoreKind, _ isPermanent: Bool) throws {
    let family = try Family(kind, isPermanent)
    let (bench, context, undo) = (family.bench, family.context, family.undo)
    let (ann, mother, child) = (family.ann, family.mother, family.child)
    try context.processPendingChanges()
    let id = child.objectID
    for _ in 0..<2 {
      try context.delete(ann)
      // The cascade deletes the child too; its friend `ann` is already deleted.
      try context.delete(mother)
      try context.processPendingChanges()
      #expect(child.managedObjectContext == nil)
      // Registers a fault for the child's ID meanwhile.
      let stray = isPermanent ? try context.object(with: id) : nil
      try undo.undo()
      #expect(try ann.objects(forKey: "friends") == [child] && child.objects(forKey: "friends") == [ann])
      #expect(child.objectID == id && context.registeredObject(for: id) == child && stray?.managedObjectContext == nil)
      #expect(context.insertedObjects == [child] && context.brokenInvariants() == [])
    }
    try undo.redo()
    try undo.undo()
    try context.save()
    let reader = bench.stranger()
    #expect(try reader.count(FetchRequest("Node")) == 3)
    #expect(try reader.object(with: ann.objectID).objects(forKey: "friends").map(\.objectID) == [child.objectID])
    #expect(isPermanent == (child.objectID == id))
  }

  /// An object inserted and deleted within one group does not exist after undo, and references to it are cleared.
  @Test(arguments: StoreKind.withFolder, [false, true])
  func whatCameAndWentInOneGroupIsForgotten(_ kind: StoreKind, _ isPermanent: Bool) throws {
    let family = try Family(kind, isPermanent)
    let (bench, context, undo) = (family.bench, family.context, family.undo)
    let (ann, mother, child) = (family.ann, family.mother, family.child)
    try context.delete(ann)
    try context.delete(mother)
    try undo.undo()
    #expect(try ann.objects(forKey: "friends").isEmpty && mother.objects(forKey: "children").isEmpty)
    #expect(child.managedObjectContext == nil && !context.hasChanges && context.brokenInvariants() == [])
    try undo.redo()
    #expect(Set(context.deletedObjects) == [ann, mother] && child.managedObjectContext == nil)
    try undo.undo()
    try context.save()
    #expect(try bench.stranger().count(FetchRequest("Node")) == 2)
  }

  /// Setting a transient relationship to a new object, undoing and redoing it marks both sides as changed again.
  @Test(arguments: StoreKind.allCases) func aTransientDestinationThatIsDoneAgainIsAChange(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, People.modelWithGuests())
    let (context, undo) = undoing(bench.context())
    let person = try context.insert("Person")
    try context.save()
    let department = try context.insert("Department")
    try person.setObject(department, forKey: "visits")
    try undo.undo()
    #expect(try !context.hasChanges && person.object(forKey: "visits") == nil)
    try undo.redo()
    #expect(context.updatedObjects == [person])
    #expect(try person.object(forKey: "visits") == department && department.objects(forKey: "guests") == [person])
    try context.save()
    #expect(try person.object(forKey: "visits") == department && department.objects(forKey: "guests") == [person])
    #expect(!department.objectID.isTemporaryID && context.brokenInvariants() == [])
  }

  /// A primitive value in a transient attribute is no change; it stays when the object's changes are undone.
  @Test(arguments: StoreKind.allCases)
  func anIDInATransientAttributeFollowsTheSaveWhenTheObjectIsAsItWas(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let person = try context.insert("Person", values: ["firstName": "Ann"])
    try context.save()
    let other = try context.insert("Person")
    try context.processPendingChanges()
    try person.setValue("Bea", forKey: "firstName")
    try context.processPendingChanges()
    try person.setPrimitiveValue(.objectID(other.objectID), forKey: "bounds")
    try undo.undo()
    #expect(person["firstName"] == "Ann" && person["bounds"] == .objectID(other.objectID) && !person.hasChanges)
    try context.save()
    #expect(person["bounds"] == .objectID(other.objectID) && !other.objectID.isTemporaryID)
  }
}
