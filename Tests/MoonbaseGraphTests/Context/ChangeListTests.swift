import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

@Suite struct ChangeListTests {
  /// Taking one out after the other closes the list up now and then, not each time.
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

  @Test func aRefreshedObjectIsNoLongerChangedAndCanChangeAgain() throws {
    let context = try People.context()
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
}
