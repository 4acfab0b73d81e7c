import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Ordered lists that a child and its parent both change before the child saves.
@Suite struct RandomOrderedChildTests {
  /// Boxes with an ordered list of items, and playlists and songs with ordered lists of each other.
  private static let model = ManagedObjectModel {
    EntityDescription("Box") {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toMany("items", destination: "Item", inverse: "box").ordered()
    }
    EntityDescription("Item") {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toOne("box", destination: "Box", inverse: "items")
      RelationshipDescription.toMany("lists", destination: "List", inverse: "items").ordered()
    }
    EntityDescription("List") {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toMany("items", destination: "Item", inverse: "lists").ordered()
    }
  }

  private struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  private final class World {
    let bench: StoreBench
    let parent: ManagedObjectContext
    let child: ManagedObjectContext
    var owners: [ManagedObjectID] = []
    var items: [ManagedObjectID] = []
    var random: SplitMix
    /// Whether parent or child changed anything since the child's last save.
    var isParentTouched = false
    var isChildTouched = false
    var log: [String] = []

    init(_ kind: StoreKind, seed: UInt64) throws {
      random = SplitMix(seed)
      bench = try StoreBench(kind, RandomOrderedChildTests.model)
      parent = bench.context()
      child = ManagedObjectContext(parent: parent)
      for name in ["b0", "b1"] { owners.append(try parent.insert("Box", values: ["name": .string(name)]).objectID) }
      for name in ["l0", "l1"] { owners.append(try parent.insert("List", values: ["name": .string(name)]).objectID) }
      var new: [ManagedObject] = []
      for number in 0..<8 { new.append(try parent.insert("Item", values: ["name": .string("i\(number)")])) }
      let all = try owners.map(parent.object(with:))
      try all[0].setObjects(Array(new[0..<5]), forKey: "items")
      try all[1].setObjects(Array(new[5..<8]), forKey: "items")
      try all[2].setObjects(Array(new[0..<6]), forKey: "items")
      try all[3].setObjects(Array(new[2..<8]), forKey: "items")
      if seed % 2 == 0 { try parent.save() } else { try parent.obtainPermanentIDs(for: all + new) }
      owners = all.map(\.objectID)
      items = new.map(\.objectID)
      if seed % 3 == 0 { parent.undoManager = UndoManager() }
      child.mergePolicy = .mergeByPropertyObjectTrump
      try inStep()
    }

    func names(_ ids: [ManagedObjectID]) -> String {
      ids.map { "\(items.firstIndex(of: $0) ?? -1)" }.joined(separator: ",")
    }

    func list(_ owner: ManagedObjectID, in context: ManagedObjectContext) throws -> [ManagedObjectID] {
      try members(owner, in: context).map(\.objectID)
    }

    func members(_ owner: ManagedObjectID, in context: ManagedObjectContext) throws -> [ManagedObject] {
      try context.object(with: owner).objects(forKey: "items")
    }

    func want(_ holds: Bool, _ what: String) throws {
      if !holds { throw Broken(description: "\(what)\n\(log.joined(separator: "\n"))") }
    }

    /// Resets the child; in half of the rounds all lists are read.
    func inStep() throws {
      (isParentTouched, isChildTouched) = (false, false)
      if random.next(2) == 0 { for owner in owners { _ = try list(owner, in: child) } }
    }

    func change(_ context: ManagedObjectContext) throws {
      let which = context === child ? "child" : "parent"
      if context === parent { isParentTouched = true } else { isChildTouched = true }
      let owner = owners[random.next(owners.count)]
      let members = try context.object(with: owner).mutableOrderedSetValue(forKey: "items")
      guard let item = try context.existingObject(with: items[random.next(items.count)]) else { return }
      let (one, other) = (random.next(100), random.next(100))
      let kind = random.next(10)
      log.append("\(which) \(kind) \(owners.firstIndex(of: owner)!) item \(names([item.objectID])) \(one) \(other)")
      guard !item.isDeleted else { return }
      switch kind {
      case 0, 1, 2: if members.count > 1 { try members.move(from: one % members.count, to: other % members.count) }
      case 3: try members.append(item)
      case 4:
        if members.contains(item) { try members.remove(item) }
        try members.insert(item, at: one % (members.count + 1))
      case 5: if members.count > 0 { try members.remove(at: one % members.count) }
      case 6: try members.sort { names([$0.objectID]) < names([$1.objectID]) }
      case 7: try context.object(with: owner).setObjects(Array(members).reversed(), forKey: "items")
      case 8: if members.count > 1 { try members.swapAt(one % members.count, other % members.count) }
      default:
        if one < 15, items.count > 4 {
          try context.delete(item)
          try context.processPendingChanges()
        } else {
          let new = try context.insert("Item", values: ["name": "new"])
          try context.obtainPermanentIDs(for: [new])
          items.append(new.objectID)
          try members.insert(new, at: one % (members.count + 1))
        }
      }
      log[log.count - 1] += " -> \(names(try list(owner, in: context)))"
    }

    func saveChild() throws {
      // Compares objects, not the parent's IDs: an object restored by undo gets a new ID when the child reads it.
      var (before, mine) = ([ManagedObjectID: [ManagedObject]](), [ManagedObjectID: [ManagedObjectID]]())
      for owner in owners {
        before[owner] = try members(owner, in: parent)
        mine[owner] = try list(owner, in: child)
      }
      let (theirs, ours) = (owners.map { names(before[$0]!.map(\.objectID)) }, owners.map { names(mine[$0]!) })
      log.append("child save: parent \(theirs) child \(ours)")
      do {
        try child.save()
      } catch let error as GraphError where [.mergeConflict, .objectNotFound].contains(error.code) {
        // The parent deleted an object that the child changed: the whole save is a conflict and changes nothing in the
        // parent.
        log.append("\(error)")
        for owner in owners { try want(members(owner, in: parent) == before[owner], "a part of a failed save") }
        try check()
        try child.reset()
        return try inStep()
      }
      log[log.count - 1] += " -> \(try owners.map { names(try list($0, in: parent)) })"
      // If only one context changed a list, its order is kept.
      for owner in owners {
        let now = try list(owner, in: parent)
        try want(Set(now).count == now.count, "a member twice")
        if !isParentTouched { try want(now == mine[owner], "the child's order of \(owners.firstIndex(of: owner)!)") }
        if !isChildTouched {
          let members = try members(owner, in: parent)
          try want(members == before[owner], "the parent's order of \(owners.firstIndex(of: owner)!)")
        }
      }
      try check()
      if random.next(2) == 0 {
        try child.refreshAllObjects()
        for owner in owners {
          try want(list(owner, in: child) == list(owner, in: parent), "refreshed \(owners.firstIndex(of: owner)!)")
        }
      } else {
        let other = ManagedObjectContext(parent: parent)
        for owner in owners {
          try want(list(owner, in: other) == list(owner, in: parent), "another child \(owners.firstIndex(of: owner)!)")
        }
        try child.reset()
      }
      try inStep()
    }

    func check() throws {
      try want(parent.brokenInvariants().isEmpty, "parent: \(parent.brokenInvariants())")
      try want(child.brokenInvariants().isEmpty, "child: \(child.brokenInvariants())")
      for owner in owners {
        let object = try parent.object(with: owner)
        for item in try object.objects(forKey: "items") {
          let back =
            try owner.entityName == "Box"
            ? [item.object(forKey: "box")].compactMap(\.self) : item.objects(forKey: "lists")
          try want(
            back.contains { $0 === object },
            "one side of \(names([item.objectID])), \(owners.firstIndex(of: owner)!): \(back)")
        }
      }
    }

    func saveParent() throws {
      log.append("parent save")
      try parent.save()
      let fresh = bench.stranger()
      for owner in owners {
        try want(list(owner, in: fresh) == list(owner, in: parent), "saved \(owners.firstIndex(of: owner)!)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases) func listsAgreeAfterEachSave(_ kind: StoreKind) throws {
    for seed in 0..<UInt64(Repetition.childSeeds.count) {
      let world = try World(kind, seed: seed)
      do {
        for _ in 0..<60 {
          switch world.random.next(12) {
          case 0, 1: try world.saveChild()
          case 2: try world.saveParent()
          case 3 where world.parent.undoManager != nil:
            (world.isParentTouched, world.log) = (true, world.log + ["undo"])
            try world.parent.undo()
            if world.random.next(2) == 0 {
              world.log.append("redo")
              try world.parent.redo()
            }
          case 4, 5, 6, 7: try world.change(world.parent)
          default:
            do { try world.change(world.child) } catch let error as GraphError
              where [.objectNotFound, .invalidObject, .invalidValue].contains(error.code)
            {
              // A list read earlier still has a member that the parent deleted or moved, or that the child deleted.
              world.log.append("\(error)")
            }
          }
          try world.check()
        }
      } catch {
        Issue.record("seed \(seed): \(error)\n\(world.log.joined(separator: "\n"))")
        return
      }
    }
  }
}
