import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Values set through each accessor (`ValueDoor`), before and after an earlier change, are restored when the change is
/// reverted.
@Suite struct RevertedValuesTests {
  private static let old: [String: Value] = [
    "name": "Ann", "number": 7, "data": ["v": 1], "mood": "calm", "note": "kept", "code": "c",
  ]
  private static let new: [String: Value] = [
    "name": "Bob", "number": 8, "data": ["v": 2], "mood": "wild", "note": "lost", "code": "d",
  ]

  private func node(
    _ kind: StoreKind, _ extensions: [EntityExtension] = []
  ) throws -> (StoreBench, ManagedObjectContext, ManagedObject) {
    let bench = try StoreBench(kind, ReferenceModel.model())
    bench.coordinator.register(ReferenceNode.self, forClassName: "ReferenceNode")
    let context = bench.context(["Node": extensions])
    let node = try context.insert("Node", values: Self.old)
    try context.save()
    return (bench, context, node)
  }

  /// Expects each attribute at its old value, except `changed`.
  private func expectOld(_ node: ManagedObject, but changed: String? = nil, _ comment: String) throws {
    for key in ValueDoor.keys {
      let wanted = key == changed ? Self.new[key] : Self.old[key]
      for way in 0..<5 { #expect(try ValueDoor.value(key, of: node, way: way) == wanted, "\(key) \(way) \(comment)") }
    }
  }

  /// Runs `body` for each accessor, each attribute changed beforehand, and each attribute changed then.
  private func forEach(_ body: (ValueDoor, _ first: String?, _ keys: [String]) throws -> Void) throws {
    for door in ValueDoor.allCases {
      for first in [nil, "code", "name", "number"] as [String?] {
        for key in ValueDoor.keys where key != first {
          try body(door, first, [key])
          let others = ValueDoor.keys.filter { $0 != first && $0 != key }
          try body(door, first, [key] + others)
        }
      }
    }
  }

  /// A rollback also reverts transient values.
  private func giveUp(_ node: ManagedObject, in context: ManagedObjectContext) throws {
    try context.rollback()
    try node.setPrimitiveValue(Self.old["mood"] ?? .null, forKey: "mood")
  }

  private func set(_ keys: [String], of node: ManagedObject, by door: ValueDoor) throws {
    for key in keys { try door.set(Self.new[key] ?? .null, key, of: node) }
  }

  @Test(arguments: StoreKind.allCases) func aFailedSavepointBringsBackWhatEachDoorSet(_ kind: StoreKind) throws {
    let (bench, context, node) = try node(kind)
    try forEach { door, first, keys in
      if let first { try node.setValue(Self.new[first] ?? .null, forKey: first) }
      #expect(throws: Broken.self) {
        try context.undoingOnFailure {
          try set(keys, of: node, by: door)
          throw Broken()
        }
      }
      try expectOld(node, but: first, "\(door) \(keys) after \(first ?? "nothing")")
      #expect(node.hasChanges == (first != nil) && context.brokenInvariants() == [])
      try giveUp(node, in: context)
    }
    #expect(try bench.saved("Node", "name") == ["Ann"])
  }

  @Test(arguments: StoreKind.allCases) func aFailedTransactionBringsBackWhatEachDoorSet(_ kind: StoreKind) throws {
    let (bench, context, node) = try node(kind)
    defer { withExtendedLifetime(bench) {} }
    try forEach { door, first, keys in
      #expect(throws: Broken.self) {
        try context.transaction {
          if let first { try node.setValue(Self.new[first] ?? .null, forKey: first) }
          try set(keys, of: node, by: door)
          throw Broken()
        }
      }
      try expectOld(node, "\(door) \(keys) after \(first ?? "nothing")")
      #expect(!context.hasChanges && context.brokenInvariants() == [])
    }
  }

  @Test(arguments: StoreKind.allCases) func undoBringsBackWhatEachDoorSet(_ kind: StoreKind) throws {
    let (bench, context, node) = try node(kind)
    defer { withExtendedLifetime(bench) {} }
    let undo = UndoManager()
    context.undoManager = undo
    try forEach { door, first, keys in
      guard door != .primitive else { return }
      if let first {
        try node.setValue(Self.new[first] ?? .null, forKey: first)
        try context.processPendingChanges()
      }
      try set(keys, of: node, by: door)
      try context.processPendingChanges()
      try undo.undo()
      try expectOld(node, but: first, "\(door) \(keys) after \(first ?? "nothing")")
      if first != nil { try undo.undo() }
      try expectOld(node, "\(door) \(keys) after \(first ?? "nothing")")
      #expect(!context.hasChanges && context.brokenInvariants() == [])
      undo.removeAllActions()
    }
  }

  /// A save's hook sets values beside the program's changes. The save is refused, and all changes of the hook are
  /// reverted.
  @Test(arguments: StoreKind.allCases) func aRefusedSaveTakesBackWhatItsHookSet(_ kind: StoreKind) throws {
    var door = ValueDoor.key
    var (keys, isFailing): ([String], Bool) = ([], false)
    var entry = EntityExtension()
    entry.willSave = { object in
      guard isFailing else { return }
      try self.set(keys, of: object, by: door)
      throw Broken()
    }
    let (bench, context, node) = try node(kind, [entry])
    isFailing = true
    try forEach { chosen, first, wanted in
      guard let first else { return }
      (door, keys) = (chosen, wanted)
      try node.setValue(Self.new[first] ?? .null, forKey: first)
      #expect(throws: (any Error).self) { try context.save() }
      try expectOld(node, but: first, "\(door) \(keys) after \(first)")
      try giveUp(node, in: context)
    }
    isFailing = false
    try node.setValue(9, forKey: "number")
    try context.save()
    #expect(try bench.saved("Node", "name") == ["Ann"] && bench.saved("Node", "note") == ["kept"])
  }

  /// Objects with plain values only take the fast path, which compares a cell with the cell of the row.
  @Test(arguments: StoreKind.allCases, ValueDoor.allCases)
  func plainValuesComeBack(_ kind: StoreKind, _ door: ValueDoor) throws {
    let bench = try StoreBench(kind, ReferenceModel.model())
    bench.coordinator.register(ReferenceNode.self, forClassName: "ReferenceNode")
    let context = bench.context()
    let node = try context.insert("Node", values: ["name": "Ann", "number": 7, "code": "c"])
    try context.save()
    #expect(throws: Broken.self) {
      try context.transaction {
        try set(["code", "number", "name"], of: node, by: door)
        throw Broken()
      }
    }
    #expect(node["name"] == "Ann" && node["number"] == 7 && node["code"] == "c" && !context.hasChanges)
    try door.set("d", "code", of: node)
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        try set(["number", "name"], of: node, by: door)
        throw Broken()
      }
    }
    #expect(node["name"] == "Ann" && node["number"] == 7 && node["code"] == "d")
    try context.save()
    #expect(try bench.saved("Node", "name") == ["Ann"] && bench.saved("Node", "number") == [7])
  }

  /// An attribute and a relationship of one object change in one failed transaction.
  @Test(arguments: StoreKind.allCases) func aRelationshipAndAnAttributeComeBackTogether(_ kind: StoreKind) throws {
    let (bench, context, node) = try node(kind)
    defer { withExtendedLifetime(bench) {} }
    let (ann, bob) = (try context.insert("Node"), try context.insert("Node"))
    try node.setObject(ann, forKey: "spouse")
    try context.save()
    for door in ValueDoor.allCases {
      for isFirst in [true, false] {
        #expect(throws: Broken.self) {
          try context.transaction {
            if isFirst { try node.setObject(bob, forKey: "spouse") }
            try set(["number", "name"], of: node, by: door)
            if !isFirst { (node as? ReferenceNode)?[ReferenceNode.spouse] = bob as? ReferenceNode }
            throw Broken()
          }
        }
        try expectOld(node, "\(door)")
        #expect(try node.object(forKey: "spouse") === ann && bob.object(forKey: "spouse") == nil)
        #expect(!context.hasChanges && context.brokenInvariants() == [])
      }
    }
  }

  /// The ways in which a newer row reaches an object with unsaved changes.
  private enum Arrival: CaseIterable {
    case refresh, merge, save, automatic
  }

  /// A value that was set and set back is no change, so a newer row replaces it.
  @Test(arguments: StoreKind.allCases, ValueDoor.allCases)
  func aValueThatWasSetBackGivesWayToANewerOne(_ kind: StoreKind, _ door: ValueDoor) throws {
    let keys = ValueDoor.keys.filter { $0 != "mood" }
    for (place, arrival) in Arrival.allCases.enumerated() {
      // The first accessor is tried with each attribute in each way, the others with one attribute in each way.
      for (number, key) in keys.enumerated() where door == .key || number == place {
        let (bench, context, node) = try node(kind)
        context.mergePolicy = MergePolicy(.objectTrump)
        context.automaticallyMergesChangesFromParent = arrival == .automatic
        try node.setValue("d", forKey: "code")
        try door.set(Self.new[key] ?? .null, key, of: node)
        try door.set(Self.old[key] ?? .null, key, of: node)
        let other = bench.context()
        try other.object(with: node.objectID).setValue(Self.new[key] ?? .null, forKey: key)
        try other.save()
        switch arrival {
        case .refresh: try context.refresh(node, mergeChanges: true)
        case .merge: try context.mergeChanges(from: SavedObjectIDs(updated: [node.objectID]))
        case .save: try context.save()
        case .automatic: #expect(try context.count(FetchRequest("Node")) == 1)
        }
        #expect(try node.value(forKey: key) == Self.new[key], "\(arrival) \(key)")
        #expect(node["code"] == "d" && context.brokenInvariants() == [])
        try context.save()
        let fresh = bench.stranger()
        let saved = try fresh.object(with: node.objectID)
        #expect(try saved.value(forKey: key) == Self.new[key] && saved["code"] == "d", "\(arrival) \(key)")
      }
    }
  }
}
