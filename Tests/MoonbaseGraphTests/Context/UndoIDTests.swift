import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Undoing and redoing around IDs that new objects get before or after it.
@Suite struct UndoIDTests {
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
