import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

@Suite struct ChangeListTests {
  /// Removing objects one after the other compacts the list now and then, not each time.
  @Test func whatIsTakenOutIsGoneAndTheRestKeepsItsOrder() throws {
    let context = try People.context()
    let objects = try (0..<500).map { _ in try context.insert("Department") }
    var naive = objects
    var random = SplitMix(3)
    while !naive.isEmpty {
      let object = naive.remove(at: random.next(naive.count))
      context.changedObjects.remove(object)
      context.changedObjects.remove(object)
      #expect(context.changedObjects.count == naive.count)
      if naive.count % 50 == 0 { #expect(Array(context.changedObjects) == naive) }
    }
    #expect(context.changedObjects.isEmpty && !context.hasChanges)
    withExtendedLifetime(objects) {}
  }

  @Test(arguments: StoreKind.allCases)
  func aRefreshedObjectIsNoLongerChangedAndCanChangeAgain(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let objects = try (0..<3).map { _ in try context.insert("Department") }
    try context.save()
    for object in objects { object["name"] = "new" }
    try context.refresh(objects[1], mergeChanges: false)
    #expect(context.updatedObjects == [objects[0], objects[2]] && context.brokenInvariants().isEmpty)
    objects[1]["name"] = "newer"
    #expect(context.updatedObjects == [objects[0], objects[2], objects[1]])
    try context.save()
    #expect(!context.hasChanges && objects[1]["name"] == "newer")
  }

  /// Finding the deleted new objects must not visit all unsaved objects.
  @Test(arguments: StoreKind.allCases) func newObjectsThatWereDeletedWaitApart(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let objects = try (0..<20).map { _ in try context.insert("Department") }
    try context.delete(objects[3])
    #expect(Array(context.deletions.newObjects) == [objects[3]])
    try context.processPendingChanges()
    #expect(context.deletions.newObjects.isEmpty && context.changedObjects.count == 19)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try context.undoingOnFailure {
        try context.delete(objects[4])
        try context.processPendingChanges()
        throw Stop()
      }
    }
    try context.processPendingChanges()
    #expect(context.deletions.newObjects.isEmpty && context.insertedObjects.contains(objects[4]))
    try context.delete(objects[4])
    try context.save()
    #expect(context.deletions.newObjects.isEmpty && context.brokenInvariants().isEmpty)
    #expect(try context.count(FetchRequest("Department")) == 18)
  }
}
