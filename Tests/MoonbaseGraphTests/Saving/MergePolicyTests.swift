import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Saves after another context's conflicting save, under each merge policy.
@Suite struct MergePolicyTests {
  private static let resolving: [MergePolicyName] = [.store, .object, .overwrite, .rollback]

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

  /// A person read by a context and then changed and saved by another one.
  private func disputed(
    _ kind: StoreKind, _ policy: MergePolicy, _ change: (ManagedObject) throws -> Void
  ) throws -> (bench: StoreBench, context: ManagedObjectContext, person: ManagedObject) {
    let bench = try StoreBench(kind)
    let context = bench.context()
    context.mergePolicy = policy
    let person = try context.insert("Person", values: ["firstName": "old", "lastName": "old", "age": 1])
    try context.save()
    let other = bench.stranger()
    try change(other.object(with: person.objectID))
    try other.save()
    return (bench, context, person)
  }

  private func values(_ bench: StoreBench, _ person: ManagedObject) throws -> [Value] {
    let other = bench.stranger()
    let same = try other.object(with: person.objectID)
    return ["firstName", "lastName", "age"].map { same[$0] }
  }

  @Test(arguments: StoreKind.withFolder, resolving)
  func propertiesThatBothChangedAreDecidedByThePolicy(_ kind: StoreKind, name: MergePolicyName) throws {
    let (bench, context, person) = try disputed(kind, name.policy) { other in
      try other.setValue("theirs", forKey: "firstName")
      try other.setValue(50, forKey: "age")
    }
    try person.setValue("mine", forKey: "firstName")
    try person.setValue("mine", forKey: "lastName")
    try context.save()
    let wanted: [Value] =
      switch name {
      case .store: ["theirs", "mine", 50]
      case .object: ["mine", "mine", 50]
      case .overwrite: ["mine", "mine", 1]
      case .rollback: ["theirs", "old", 50]
      }
    #expect(try values(bench, person) == wanted && ["firstName", "lastName", "age"].map { person[$0] } == wanted)
    #expect(!context.hasChanges && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.withFolder) func withoutAPolicyTheErrorNamesWhatCollides(_ kind: StoreKind) throws {
    let (bench, context, person) = try disputed(kind, .error) { try $0.setValue("theirs", forKey: "firstName") }
    defer { withExtendedLifetime(bench) {} }
    try person.setValue("mine", forKey: "firstName")
    try person.setValue(2, forKey: "age")
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .mergeConflict && error?.property == "firstName" && error?.value == "mine")
    #expect(error?.message.contains("firstName is mine here and theirs there") == true, "\(error as Any)")
    #expect(person["firstName"] == "mine" && context.updatedObjects == [person])
  }

  @Test(arguments: StoreKind.withFolder) func aValueThatWasSetBackDoesNotCollide(_ kind: StoreKind) throws {
    let (bench, context, person) = try disputed(kind, .error) { try $0.setValue("theirs", forKey: "firstName") }
    defer { withExtendedLifetime(bench) {} }
    for name in ["mine", "old"] { try person.setValue(.string(name), forKey: "firstName") }
    try person.setValue("mine", forKey: "lastName")
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .mergeConflict && error?.property == nil, "\(error as Any)")
  }

  @Test(arguments: StoreKind.withFolder, resolving)
  func whatAnotherContextDeletedStaysDeleted(_ kind: StoreKind, name: MergePolicyName) throws {
    let (bench, context, person) = try disputed(kind, name.policy) { try $0.managedObjectContext?.delete($0) }
    try person.setValue("mine", forKey: "firstName")
    let new = try context.insert("Person", values: ["firstName": "new"])
    switch name {
    case .store, .rollback:
      try context.save()
      #expect(person.managedObjectContext == nil && !new.isInserted)
      #expect(try bench.saved("Person", "firstName") == ["new"])
    case .object, .overwrite:
      let error = #expect(throws: GraphError.self) { try context.save() }
      #expect(error?.code == .mergeConflict && person["firstName"] == "mine" && new.isInserted)
    }
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.withFolder, resolving)
  func aDeletionOfWhatOthersChangedIsDecidedByThePolicy(_ kind: StoreKind, name: MergePolicyName) throws {
    let (bench, context, person) = try disputed(kind, name.policy) { try $0.setValue("theirs", forKey: "firstName") }
    try context.delete(person)
    try context.save()
    let isKept = name == .store || name == .rollback
    #expect(try bench.saved("Person", "firstName") == (isKept ? ["theirs"] : []))
    #expect((person.managedObjectContext != nil) == isKept && !context.hasChanges && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.withFolder, resolving)
  func aDeletionThatBothMadeIsNoConflict(_ kind: StoreKind, name: MergePolicyName) throws {
    let (bench, context, person) = try disputed(kind, name.policy) { try $0.managedObjectContext?.delete($0) }
    try context.delete(person)
    try context.save()
    #expect(try bench.saved("Person", "age") == [] && person.managedObjectContext == nil && !context.hasChanges)
  }

  @Test(arguments: StoreKind.allCases, resolving)
  func toOneRelationshipsFollowThePolicyOnBothSides(_ kind: StoreKind, name: MergePolicyName) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    context.mergePolicy = name.policy
    let departments = try ["old", "mine", "theirs"].map {
      try context.insert("Department", values: ["name": .string($0)])
    }
    let person = try context.insert("Person", values: ["department": .objectID(departments[0].objectID)])
    try context.save()
    for department in departments { _ = try department.objects(forKey: "employees") }
    let other = bench.stranger()
    try other.object(with: person.objectID).setObject(other.object(with: departments[2].objectID), forKey: "department")
    try other.save()
    try person.setObject(departments[1], forKey: "department")
    try context.save()
    let owner = name == .store || name == .rollback ? departments[2] : departments[1]
    #expect(try person.object(forKey: "department") === owner)
    #expect(
      try departments.map { try $0.objects(forKey: "employees").count } == departments.map { $0 === owner ? 1 : 0 })
    let stranger = bench.stranger()
    #expect(try stranger.object(with: person.objectID).object(forKey: "department")?.objectID == owner.objectID)
    #expect(context.brokenInvariants() == [] && !context.hasChanges)
  }

  @Test(arguments: StoreKind.withFolder, resolving)
  func aDestinationThatIsGoneIsForgotten(_ kind: StoreKind, name: MergePolicyName) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    context.mergePolicy = name.policy
    let (department, person) = (try context.insert("Department"), try context.insert("Person"))
    try context.save()
    let other = bench.stranger()
    try other.delete(other.object(with: department.objectID))
    try other.save()
    try person.setObject(department, forKey: "department")
    let new = try context.insert("Person", values: ["firstName": "new", "department": .objectID(department.objectID)])
    try context.save()
    #expect(try person.object(forKey: "department") == nil && new.object(forKey: "department") == nil)
    #expect(try bench.saved("Person", "firstName") == [.null, "new"] && !context.hasChanges)
  }

  @Test(arguments: StoreKind.allCases, resolving)
  func aNewObjectWithATakenValueIsDecidedByThePolicy(_ kind: StoreKind, name: MergePolicyName) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    context.mergePolicy = name.policy
    let saved = try context.insert(
      "Person", values: ["email": "a", "firstName": "saved", "lastName": "saved", "age": 5])
    let friend = try context.insert("Person")
    try context.save()
    let new = try context.insert("Person", values: ["email": "a", "firstName": "new"])
    try new.add(friend, to: "friends")
    let another = try context.insert("Person", values: ["email": "b"])
    try context.save()
    #expect(new.managedObjectContext == nil && !another.isInserted && !context.hasChanges)
    let wanted: [Value] =
      switch name {
      case .store, .rollback: ["saved", "saved", 5]
      case .object: ["new", "saved", 5]
      case .overwrite: ["new", .null, 0]
      }
    #expect(try values(bench, saved) == wanted)
    let isHanded = name == .object || name == .overwrite
    #expect(try friend.objects(forKey: "friends") == (isHanded ? [saved] : []) && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.withFolder, resolving)
  func aChangedObjectWithATakenValueGivesItUpOrFails(_ kind: StoreKind, name: MergePolicyName) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    context.mergePolicy = name.policy
    try context.insert("Person", values: ["email": "a"])
    let person = try context.insert("Person", values: ["email": "b", "age": 1])
    try context.save()
    try person.setValue("a", forKey: "email")
    try person.setValue(2, forKey: "age")
    switch name {
    case .store, .rollback:
      try context.save()
      #expect(person["email"] == "b" && person["age"] == (name == .store ? 2 : 1) && !context.hasChanges)
    case .object, .overwrite:
      let error = #expect(throws: GraphError.self) { try context.save() }
      #expect(error?.code == .constraintConflict && person["email"] == "a" && person["age"] == 2)
    }
  }

  @Test(arguments: StoreKind.allCases) func twoNewObjectsWithOneValueAreAnError(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    context.mergePolicy = .mergeByPropertyObjectTrump
    for _ in 0..<2 { try context.insert("Person", values: ["email": "a"]) }
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .constraintConflict && context.insertedObjects.count == 2)
    withExtendedLifetime(bench) {}
  }

  /// The destination may also be unique: the store's link is kept, and both sides follow.
  @Test(arguments: StoreKind.allCases) func aUniqueDestinationIsGivenUpOnBothSides(_ kind: StoreKind) throws {
    var seat = EntityDescription("Seat")
    seat.attributes = [AttributeDescription("row", type: .integer64)]
    seat.relationships = [.toMany("guests", destination: "Guest", inverse: "seat")]
    var guest = EntityDescription("Guest")
    guest.attributes = [AttributeDescription("name", type: .string)]
    guest.relationships = [.toOne("seat", destination: "Seat", inverse: "guests")]
    guest.uniquenessConstraints = [["seat"]]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [seat, guest]))
    let writer = bench.context()
    let (place, ann) = (try writer.insert("Seat"), try writer.insert("Guest", values: ["name": "Ann"]))
    let bob = try writer.insert("Guest", values: ["name": "Bob"])
    try ann.setObject(place, forKey: "seat")
    try writer.save()
    let context = bench.context()
    context.mergePolicy = .mergeByPropertyStoreTrump
    let (mine, theirs) = (try context.object(with: bob.objectID), try context.object(with: place.objectID))
    try mine.setObject(theirs, forKey: "seat")
    try mine.setValue("Robert", forKey: "name")
    try context.save()
    #expect(try mine.object(forKey: "seat") == nil && mine["name"] == "Robert" && !context.hasChanges)
    #expect(try theirs.objects(forKey: "guests").map { $0["name"] } == ["Ann"] && context.brokenInvariants() == [])
    withExtendedLifetime(writer) {}
  }

  @Test(arguments: StoreKind.allCases) func aProgramDecidesForEachConflict(_ kind: StoreKind) throws {
    let policy = MergePolicy.custom { conflict in
      guard let age = conflict.collisions.first(where: { $0.property == "age" }), case .int(let mine) = age.object,
        case .int(let theirs) = age.stored, case .int(let old) = age.original
      else { return .error }
      return .values(["age": .int(mine + theirs - old)])
    }
    let (bench, context, person) = try disputed(kind, policy) { other in
      try other.setValue(11, forKey: "age")
      try other.setValue("theirs", forKey: "lastName")
    }
    try person.setValue(6, forKey: "age")
    try person.setValue("mine", forKey: "firstName")
    try context.save()
    #expect(try values(bench, person) == ["mine", "theirs", 16])

    context.mergePolicy = .custom { _ in throw Broken() }
    let other = bench.stranger()
    try other.object(with: person.objectID).setValue(70, forKey: "age")
    try other.save()
    try person.setValue(60, forKey: "age")
    #expect(throws: (any Error).self) { try context.save() }
    #expect(person["age"] == 60 && context.updatedObjects == [person])
    context.mergePolicy = .custom { _ in .error }
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .mergeConflict && person["age"] == 60)
  }

  /// Validation rules and hooks run again on merged values, and their changes for the rejected values are reverted.
  @Test(arguments: StoreKind.allCases) func hooksAndRulesRunAnewForWhatWasMerged(_ kind: StoreKind) throws {
    let (bench, first, person) = try disputed(kind, .error) { try $0.setValue(50, forKey: "age") }
    _ = first
    let calls = Switch()
    let context = bench.context { entry in
      entry.willSave = { object in
        calls.value += 1
        let text = Value.string("\(object["firstName"]) \(object["age"])")
        if object["lastName"] != text { try object.setValue(text, forKey: "lastName") }
      }
      entry.validateForUpdate = { object in
        if object["age"] == 99 { throw GraphError(.validation, message: "too old") }
        return nil
      }
    }
    context.mergePolicy = .mergeByPropertyObjectTrump
    let same = try context.object(with: person.objectID)
    _ = same["age"]
    let other = bench.stranger()
    try other.object(with: person.objectID).setValue(51, forKey: "age")
    try other.save()
    try same.setValue("mine", forKey: "firstName")
    try context.save()
    #expect(try values(bench, person) == ["mine", "mine 51", 51] && calls.value > 2)
    try other.refresh(other.object(with: person.objectID), mergeChanges: false)
    try other.object(with: person.objectID).setValue(99, forKey: "age")
    try other.save()
    try same.setValue("again", forKey: "firstName")
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .validation, "\(error as Any)")
    #expect(same["firstName"] == "again" && same["lastName"] == "mine 51" && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func aMergedSaveIsUndoneToWhatWasThereBefore(_ kind: StoreKind) throws {
    let (bench, context, person) = try disputed(kind, .mergeByPropertyObjectTrump) {
      try $0.setValue(50, forKey: "age")
    }
    let undo = UndoManager()
    context.undoManager = undo
    try person.setValue("mine", forKey: "firstName")
    try context.save()
    try undo.undo()
    #expect(person["firstName"] == "old" && person["age"] == 50)
    try context.save()
    #expect(try values(bench, person) == ["old", "old", 50])
  }
}
