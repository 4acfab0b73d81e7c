import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Undoing and redoing around IDs that new objects get before or after it.
@Suite struct UndoIDTests {
  /// Two that are saved, and a new one: a child of one, which its deletion takes along, and a friend of the other.
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

  /// A new object that got its permanent ID ahead of a save comes back under it: one that was to go before it did still knows it by that.
  @Test(arguments: StoreKind.withFolder, [false, true])
  func aNewObjectComesBackUnderTheKeyThatWasSetAsideForIt(_ kind: StoreKind, _ isPermanent: Bool) throws {
    let family = try Family(kind, isPermanent)
    let (bench, context, undo) = (family.bench, family.context, family.undo)
    let (ann, mother, child) = (family.ann, family.mother, family.child)
    try context.processPendingChanges()
    let id = child.objectID
    for _ in 0..<2 {
      try context.delete(ann)
      // The child goes with her, when nobody is its friend any more.
      try context.delete(mother)
      try context.processPendingChanges()
      #expect(child.managedObjectContext == nil)
      // Somebody may look for it meanwhile.
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

  /// What came and went within one group is not there when that is undone, and who was to go with it forgets it.
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

  /// A transient relationship that was led to a new object, undone and done again is a change again, by both of its sides.
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

  /// What a primitive setter put into a transient attribute is no change, and stays when those of the object are undone.
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
