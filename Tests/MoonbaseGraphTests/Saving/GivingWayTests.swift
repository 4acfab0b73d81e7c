import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// New objects that are replaced by saved objects with the same unique values, alone and in chains, and conflicts
/// without a resolution.
@Suite struct GivingWayTests {
  private static let handingOver: [MergePolicyName] = [.object, .overwrite]

  enum MergePolicyName: Sendable {
    case store, object, overwrite, rollback

    var policy: MergePolicy {
      switch self {
      case .store: .mergeByPropertyStoreTrump
      case .object: .mergeByPropertyObjectTrump
      case .overwrite: .overwrite
      case .rollback: .rollback
      }
    }
  }

  /// Boxes with a unique name and relationships of each kind, with delete rule `rule`.
  private static func model(_ rule: DeleteRule) -> ManagedObjectModel {
    var box = EntityDescription("Box")
    box.attributes = [AttributeDescription("name", type: .string), AttributeDescription("size", type: .integer64)]
    box.uniquenessConstraints = [["name"]]
    box.relationships = [
      .toOne("owner", destination: "Thing", inverse: "boxes"), .toOne("lid", destination: "Thing", inverse: "lidOf"),
      .toMany("parts", destination: "Thing", inverse: "box"), .toMany("tags", destination: "Thing", inverse: "tagged"),
      .toMany("links", destination: "Thing"),
    ]
    for index in box.relationships.indices { box.relationships[index].deleteRule = rule }
    box.relationships += [.toOne("next", destination: "Box"), .toMany("near", destination: "Box", inverse: "near")]
    var thing = EntityDescription("Thing")
    thing.attributes = [AttributeDescription("name", type: .string)]
    thing.relationships = [
      .toMany("boxes", destination: "Box", inverse: "owner"), .toOne("lidOf", destination: "Box", inverse: "lid"),
      .toOne("box", destination: "Box", inverse: "parts"), .toMany("tagged", destination: "Box", inverse: "tags"),
    ]
    return ManagedObjectModel(entities: [box, thing])
  }

  private static let keys = ["owner", "lid", "parts", "tags", "links"]

  private func lead(_ box: ManagedObject, _ key: String, to thing: ManagedObject) throws {
    if ["owner", "lid"].contains(key) {
      try box.setObject(thing, forKey: key)
    } else {
      try box.add(thing, to: key)
    }
  }

  private func destinations(_ box: ManagedObject, _ key: String) throws -> [ManagedObject] {
    try ["owner", "lid"].contains(key) ? [box.object(forKey: key)].compactMap { $0 } : box.objects(forKey: key)
  }

  /// Destinations transferred to the saved object are not deleted with the new one, whatever the delete rule.
  @Test(arguments: StoreKind.allCases, handingOver)
  func whatIsHandedOverStays(_ kind: StoreKind, name: MergePolicyName) throws {
    for rule in [DeleteRule.cascade, .deny] {
      for key in Self.keys {
        let bench = try StoreBench(kind, Self.model(rule))
        let context = bench.context()
        context.mergePolicy = name.policy
        let box = try context.insert("Box", values: ["name": "a"])
        let old = try context.insert("Thing", values: ["name": "old"])
        try context.save()
        let new = try context.insert("Box", values: ["name": "a"])
        let thing = try context.insert("Thing", values: ["name": "new"])
        try lead(new, key, to: old)
        if key != "owner", key != "lid" { try lead(new, key, to: thing) }
        try context.save()
        let wanted = key == "owner" || key == "lid" ? [old] : [old, thing]
        #expect(try Set(destinations(box, key)) == Set(wanted), "\(key), \(rule)")
        #expect(new.managedObjectContext == nil && !context.hasChanges && context.brokenInvariants() == [])
        #expect(try bench.saved("Thing", "name") == ["new", "old"], "\(key), \(rule)")
      }
    }
  }

  /// If the store's version wins, a new object is deleted with its new dependents; saved objects stay and deny nothing.
  @Test(arguments: StoreKind.allCases, [MergePolicyName.store, .rollback])
  func whatWasThereIsNotDeletedWithANewObject(_ kind: StoreKind, name: MergePolicyName) throws {
    for rule in [DeleteRule.cascade, .deny] {
      for key in Self.keys {
        let bench = try StoreBench(kind, Self.model(rule))
        let context = bench.context()
        context.mergePolicy = name.policy
        let box = try context.insert("Box", values: ["name": "a"])
        let old = try context.insert("Thing", values: ["name": "old"])
        try context.save()
        let new = try context.insert("Box", values: ["name": "a"])
        let thing = try context.insert("Thing", values: ["name": "new"])
        if key != "owner", key != "lid" { try lead(new, key, to: old) }
        try lead(new, key, to: thing)
        try context.save()
        #expect(new.managedObjectContext == nil && !context.hasChanges && context.brokenInvariants() == [])
        #expect(try destinations(box, key).isEmpty)
        #expect(try bench.saved("Thing", "name") == (rule == .cascade ? ["old"] : ["new", "old"]), "\(key), \(rule)")
      }
    }
  }

  /// New objects that refer to each other and to themselves are replaced: the saved objects refer to each other in the
  /// same way.
  @Test(arguments: StoreKind.allCases, handingOver)
  func aCircleOfNewObjectsIsHandedOverAsACircle(_ kind: StoreKind, name: MergePolicyName) throws {
    let bench = try StoreBench(kind, Self.model(.nullify))
    let context = bench.context()
    context.mergePolicy = name.policy
    let saved = try ["a", "b", "c"].map { try context.insert("Box", values: ["name": .string($0)]) }
    try context.save()
    let new = try ["a", "b", "c"].map { try context.insert("Box", values: ["name": .string($0)]) }
    for index in 0..<3 {
      try new[index].setObject(new[(index + 1) % 3], forKey: "next")
      try new[index].add(new[(index + 1) % 3], to: "near")
    }
    try new[0].add(new[0], to: "near")
    let other = try context.insert("Box", values: ["name": "d"])
    try other.setObject(new[1], forKey: "next")
    try context.save()
    for index in 0..<3 {
      #expect(try saved[index].object(forKey: "next") === saved[(index + 1) % 3], "\(index)")
      let wanted = Set(saved).subtracting(index == 0 ? [] : [saved[index]])
      #expect(try Set(saved[index].objects(forKey: "near")) == wanted, "\(index)")
    }
    #expect(try other.object(forKey: "next") === saved[1])
    #expect(new.allSatisfy { $0.managedObjectContext == nil } && context.brokenInvariants() == [])
    let stranger = bench.stranger()
    let same = try stranger.object(with: saved[2].objectID)
    #expect(try same.object(forKey: "next")?.objectID == saved[0].objectID && same.objects(forKey: "near").count == 2)
  }

  /// Objects deleted in the same save are not transferred.
  @Test(arguments: StoreKind.allCases, handingOver)
  func whatGoesIsHandedOverToNobody(_ kind: StoreKind, name: MergePolicyName) throws {
    let bench = try StoreBench(kind, Self.model(.nullify))
    let context = bench.context()
    context.propagatesDeletesAtEndOfEvent = false
    context.mergePolicy = name.policy
    let box = try context.insert("Box", values: ["name": "a"])
    let things = try (0..<2).map { _ in try context.insert("Thing") }
    try context.save()
    let new = try context.insert("Box", values: ["name": "a", "size": 3])
    // A reference without an inverse would be a conflict by itself.
    let keys = Self.keys.filter { $0 != "links" }
    for key in keys { try lead(new, key, to: things[0]) }
    for thing in things { try context.delete(thing) }
    try context.save()
    #expect(box["size"] == 3 && new.managedObjectContext == nil && !context.hasChanges)
    for key in keys { #expect(try destinations(box, key).isEmpty, "\(key)") }
    #expect(try bench.saved("Thing", "name").isEmpty && context.brokenInvariants() == [])
  }

  /// Values returned by a custom merge policy are set even if a destination is gone.
  @Test(arguments: StoreKind.allCases) func aProgramAnswersWithValuesWhereADestinationIsGone(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    context.mergePolicy = .custom { _ in .values(["firstName": "was in a department"]) }
    let (department, person) = (try context.insert("Department"), try context.insert("Person"))
    try context.save()
    let other = bench.stranger()
    try other.delete(other.object(with: department.objectID))
    try other.save()
    try person.setObject(department, forKey: "department")
    try context.save()
    #expect(try person.object(forKey: "department") == nil && person["firstName"] == "was in a department")
    #expect(try bench.saved("Person", "firstName") == ["was in a department"])
  }

  /// The store may report the conflict for the saved object, whose row is written later, instead of the new object.
  @Test(arguments: StoreKind.allCases, [MergePolicyName.store, .object, .overwrite, .rollback])
  func aNewObjectGivesWayToOneThatChangedToo(_ kind: StoreKind, name: MergePolicyName) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    context.mergePolicy = name.policy
    let saved = try context.insert("Person", values: ["email": "a", "firstName": "saved"])
    try context.save()
    try saved.setValue(7, forKey: "age")
    let new = try context.insert("Person", values: ["email": "a", "firstName": "new"])
    try context.save()
    let isHanded = name == .object || name == .overwrite
    #expect(saved["firstName"] == (isHanded ? "new" : "saved") && saved["age"] == (name == .overwrite ? 0 : 7))
    #expect(new.managedObjectContext == nil && !context.hasChanges && context.brokenInvariants() == [])
    #expect(try bench.saved("Person", "age") == [name == .overwrite ? 0 : 7])
  }

  /// If a hook restores the conflict, the save fails at once instead of retrying dozens of times.
  @Test(arguments: StoreKind.allCases) func whatARoundDoesNotResolveFailsAtOnce(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let goneID = Switch()
    let calls = Switch()
    let first = bench.context()
    let gone = try first.insert("Department", values: ["name": "gone"])
    let person = try first.insert("Person", values: ["firstName": "a"])
    try first.save()
    let context = bench.context { entry in
      entry.willSave = { object in
        calls.value += 1
        guard let context = object.managedObjectContext, goneID.value == 1,
          let department = context.registeredObjects.first(where: { $0.entity.name == "Department" })
        else { return }
        try object.setObject(department, forKey: "department")
      }
    }
    context.mergePolicy = .mergeByPropertyObjectTrump
    let (mine, department) = (try context.object(with: person.objectID), try context.object(with: gone.objectID))
    _ = department["name"]
    let other = bench.stranger()
    try other.delete(other.object(with: gone.objectID))
    try other.save()
    goneID.value = 1
    try mine.setValue("b", forKey: "firstName")
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .mergeConflict && calls.value <= 2, "\(error as Any), \(calls.value) calls")
    #expect(mine["firstName"] == "b" && context.brokenInvariants() == [])
    goneID.value = 0
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["b"])
    withExtendedLifetime((first, department)) {}
  }

  /// A custom merge policy whose values change nothing the second time ends the save.
  @Test(arguments: StoreKind.allCases) func anAnswerThatDoesNotHelpIsNotAskedForAgainAndAgain(_ kind: StoreKind) throws
  {
    let bench = try StoreBench(kind)
    let asked = Switch()
    let context = bench.context()
    try context.insert("Person", values: ["email": "a"])
    try context.save()
    context.mergePolicy = .custom { _ in
      asked.value += 1
      return .values(["age": 7])
    }
    let new = try context.insert("Person", values: ["email": "a"])
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .constraintConflict && asked.value <= 2 && new["age"] == 0, "\(asked.value)")
    withExtendedLifetime(bench) {}
  }
}
