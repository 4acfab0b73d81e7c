import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Undo in a parent after saves of its children, successful or failed.
@Suite struct ParentUndoTests {
  /// Reasons for a child's save to fail.
  enum Obstacle: CaseIterable, Sendable {
    case rule, willSave, conflict, destination, fault
  }

  private final class World {
    let bench: StoreBench
    let parent, child: ManagedObjectContext
    let people: [ManagedObject]
    var obstacle: Obstacle?

    init(_ kind: StoreKind) throws {
      bench = try StoreBench(kind)
      weak var world: World?
      weak var weakParent: ManagedObjectContext?
      func fails(_ kind: Obstacle, _ object: ManagedObject, inParent: Bool) throws {
        let isOfParent = object.managedObjectContext === weakParent
        guard let world, world.obstacle == kind, isOfParent == inParent else { return }
        throw GraphError(.validation, message: "no")
      }
      parent = bench.context { entry in
        entry.validateForUpdate = {
          try fails(.rule, $0, inParent: false)
          return nil
        }
        entry.willSave = { try fails(.willSave, $0, inParent: false) }
        entry.awakeFromFetch = { try fails(.fault, $0, inParent: true) }
      }
      let parent = parent
      people = try (0..<4).map { try parent.insert("Person", values: ["firstName": .string("P\($0)")]) }
      try parent.save()
      child = ManagedObjectContext(parent: parent)
      parent.undoManager = UndoManager()
      (world, weakParent) = (self, parent)
    }

    /// Saves two changed objects and a new one in the child, with the changes that make the save fail.
    func saveInVain(_ obstacle: Obstacle) throws {
      let mine = try [0, 1].map { try child.object(with: people[$0].objectID) }
      for object in mine { try object.setValue("mine", forKey: "lastName") }
      let new = try child.insert("Person", values: ["firstName": "new"])
      switch obstacle {
      case .rule, .willSave: break
      case .conflict: try people[1].setValue("theirs", forKey: "email")
      case .destination:
        let office = try parent.insert("Department")
        try new.setObject(child.object(with: office.objectID), forKey: "department")
        try parent.delete(office)
      case .fault: try parent.refresh(people[1], mergeChanges: false)
      }
      self.obstacle = obstacle
      #expect(throws: GraphError.self) { try child.save() }
      self.obstacle = nil
      try child.rollback()
    }
  }

  @Test(arguments: StoreKind.allCases, Obstacle.allCases) func aFailedSaveOfAChildSplitsNoGroup(
    _ kind: StoreKind, _ obstacle: Obstacle
  ) throws {
    let world = try World(kind)
    let parent = world.parent
    let undo = try #require(parent.undoManager)
    undo.setActionName("all")
    try world.people[2].setValue("before", forKey: "lastName")
    try parent.insert("Person", values: ["firstName": "before"])
    try world.saveInVain(obstacle)
    #expect(undo.undoActionName == "all" && undo.canUndo && !undo.canRedo)
    try world.people[3].setValue("after", forKey: "lastName")
    try parent.undo()
    #expect(world.people.allSatisfy { $0["lastName"] == .null } && !undo.canUndo && !parent.hasChanges)
    try parent.redo()
    #expect(world.people.map { $0["lastName"] } == [.null, .null, "before", "after"])
    #expect(parent.insertedObjects.filter { $0["firstName"] == "before" }.count == 1)
    #expect(parent.brokenInvariants() == [] && world.child.brokenInvariants() == [])
  }

  @Test(arguments: [Obstacle.rule, .willSave, .fault]) func aFailedSaveOfAChildLeavesWhatCanBeRedone(
    _ obstacle: Obstacle
  ) throws {
    let world = try World(.memory)
    try world.people[2].setValue("x", forKey: "lastName")
    try world.parent.undo()
    try world.saveInVain(obstacle)
    #expect(world.parent.undoManager?.canRedo == true && world.parent.undoManager?.canUndo == false)
    try world.parent.redo()
    #expect(world.people[2]["lastName"] == "x")
  }

  @Test(arguments: StoreKind.allCases) func aSaveOfAChildIsAStepByItself(_ kind: StoreKind) throws {
    let world = try World(kind)
    let (parent, undo) = (world.parent, try #require(world.parent.undoManager))
    func lastNames() -> [Value] { world.people.map { $0["lastName"] } }
    try world.people[2].setValue("before", forKey: "lastName")
    try world.child.object(with: world.people[0].objectID).setValue("mine", forKey: "lastName")
    try world.child.save()
    try world.people[3].setValue("after", forKey: "lastName")
    #expect(lastNames() == ["mine", .null, "before", "after"])
    try parent.undo()
    #expect(lastNames() == ["mine", .null, "before", .null])
    try parent.undo()
    #expect(lastNames() == [.null, .null, "before", .null])
    try parent.undo()
    #expect(lastNames() == [.null, .null, .null, .null] && !undo.canUndo)
    for _ in 0..<3 { try parent.redo() }
    #expect(lastNames() == ["mine", .null, "before", "after"] && !undo.canRedo)
    // Within an open group the step belongs to that group.
    try undo.beginUndoGrouping()
    try world.people[1].setValue("group", forKey: "lastName")
    try world.child.refreshAllObjects()
    try world.child.object(with: world.people[2].objectID).setValue("group", forKey: "lastName")
    try world.child.save()
    try undo.endUndoGrouping()
    #expect(lastNames() == ["mine", "group", "group", "after"])
    try parent.undo()
    #expect(lastNames() == ["mine", .null, "before", "after"])
    // Without grouping by event, all changes between two saves are one step.
    undo.removeAllActions()
    undo.groupsByEvent = false
    for (index, name) in ["a", "b"].enumerated() {
      try world.people[3].setValue(.string(name), forKey: "lastName")
      try parent.processPendingChanges()
      try world.child.refreshAllObjects()
      try world.child.object(with: world.people[index].objectID).setValue(.string(name), forKey: "email")
      try world.child.save()
    }
    func emails() -> [Value] { world.people.prefix(2).map { $0["email"] } }
    #expect(emails() == ["a", "b"])
    try parent.undo()
    #expect(emails() == ["a", .null] && lastNames()[3] == "b")
    try parent.undo()
    #expect(emails() == ["a", .null] && lastNames()[3] == "a")
    try parent.undo()
    #expect(emails() == [.null, .null] && lastNames()[3] == "a")
    try parent.undo()
    #expect(lastNames()[3] == "after" && !undo.canUndo && parent.brokenInvariants() == [])
  }

  /// Both stores are written before either one is committed.
  @Test func aSaveIntoSeveralStoresIsOneStepOrNone() throws {
    let bench = try StoreBench(.memory)
    try bench.coordinator.add(InMemoryStore(model: bench.coordinator.model))
    let stores = bench.coordinator.persistentStores
    let parent = bench.context()
    let people = try stores.enumerated().map { index, store in
      let person = try parent.insert("Person", values: ["firstName": .string("\(index)")])
      try parent.assign(person, to: store)
      return person
    }
    try parent.save()
    parent.undoManager = UndoManager()
    let child = ManagedObjectContext(parent: parent)
    let mine = try people.map { try child.object(with: $0.objectID) }
    try people[0].setValue("before", forKey: "email")
    for person in mine { try person.setValue("x", forKey: "lastName") }
    // Only one of the two objects has a conflict; both orders are tried.
    for index in [0, 1] {
      try people[index].setValue(.string("theirs \(index)"), forKey: "boundsAsString")
      #expect(throws: GraphError.self) { try child.save() }
      #expect(people.allSatisfy { $0["lastName"] == .null })
      try child.refresh(mine[index], mergeChanges: true)
      if index == 0 { try child.refresh(mine[0], mergeChanges: true) }
    }
    try child.save()
    #expect(people.allSatisfy { $0["lastName"] == "x" })
    try parent.undo()
    #expect(people.allSatisfy { $0["lastName"] == .null } && people[0]["email"] == "before")
    try parent.undo()
    #expect(!parent.hasChanges && parent.undoManager?.canUndo == false)
  }
}
