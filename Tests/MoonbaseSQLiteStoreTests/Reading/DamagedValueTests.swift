import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// Objects with one invalid value in the file: only reading this value is an error.
@Suite struct DamagedValueTests {
  let folder: TemporaryFolder
  let model: ResolvedModel
  let coordinator: PersistentStoreCoordinator
  /// Invalid UTF-8.
  private static let damage = "CAST(x'ff41ff' AS TEXT)"

  /// Cars, of which the second has a make that is no text.
  init() throws {
    folder = try TemporaryFolder()
    var car = EntityDescription("Car")
    var speed = AttributeDescription("speed", type: .integer16)
    speed.validation.minimum = 1
    var title = AttributeDescription("title", type: .string)
    title.isTransient = true
    car.attributes = [
      AttributeDescription("make", type: .string), AttributeDescription("wheels", type: .integer16), speed, title,
    ]
    car.relationships = [.toOne("owner", destination: "Owner", inverse: "cars")]
    car.relationships[0].deleteRule = .cascade
    var owner = EntityDescription("Owner")
    owner.attributes = [AttributeDescription("name", type: .string)]
    owner.relationships = [.toMany("cars", destination: "Car", inverse: "owner")]
    model = try ManagedObjectModel(entities: [car, owner]).resolved()
    coordinator = try Self.coordinator(folder, model)
    let context = try ManagedObjectContext(Self.coordinator(folder, model))
    let ann = try context.insert("Owner", values: ["name": "Ann"])
    for number in 1...3 {
      let car = try context.insert(
        "Car", values: ["make": .string("make \(number)"), "wheels": .int(Int64(number)), "speed": 10])
      try car.setObject(ann, forKey: "owner")
    }
    try context.save()
    try raw("UPDATE ZCAR SET ZMAKE = \(Self.damage) WHERE Z_PK = 2")
  }

  private static func coordinator(_ folder: TemporaryFolder, _ model: ResolvedModel) throws
    -> PersistentStoreCoordinator
  {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: folder.file(), model: model))
    return coordinator
  }

  private func raw(_ sql: String) throws { try RawDatabase(folder.file()).connection.executeScript(sql) }

  private func column(_ name: String, of key: Int = 2) throws -> String? {
    try RawDatabase(folder.file()).value("SELECT quote(CAST(\(name) AS BLOB)) FROM ZCAR WHERE Z_PK = \(key)")
  }

  private func context() throws -> ManagedObjectContext { try ManagedObjectContext(coordinator) }

  private func cars(_ context: ManagedObjectContext, where predicate: String? = nil) throws -> [ManagedObject] {
    var request = FetchRequest("Car")
    request.predicate = try predicate.map { try Predicate(format: $0) }
    request.sortDescriptors = [SortDescriptor("wheels")]
    return try context.fetch(request)
  }

  /// The second car of a new context.
  private func broken(_ context: ManagedObjectContext) throws -> ManagedObject { try cars(context)[1] }

  private func expectDamage(_ car: ManagedObject, _ name: String = "make", _ read: () throws -> Value) {
    let error = #expect(throws: GraphError.self) { try read() }
    #expect(error?.code == .invalidStore && error?.entity == "Car" && error?.property == name)
    #expect(error?.objectID == car.objectID)
    #expect(error?.message.contains("table ZCAR, row 2: ") == true, "\(error as Any)")
  }

  @Test func allObjectsAreFetchedAndTheErrorComesWithTheValue() throws {
    let context = try context()
    let cars = try cars(context)
    #expect(cars.count == 3)
    #expect(try cars[0].value(forKey: "make") == "make 1" && cars[2].value(forKey: "make") == "make 3")
    let broken = cars[1]
    #expect(try broken.value(forKey: "wheels") == 2)
    #expect(try broken.object(forKey: "owner")?.value(forKey: "name") == "Ann")
    expectDamage(broken) { try broken.value(forKey: "make") }
    expectDamage(broken) { try broken.primitiveValue(forKey: "make") }
    expectDamage(broken) { try broken.committedValues()["make"] ?? .null }
    #expect("\(broken)".contains("make = a damaged value, wheels = 2"), "\(broken)")
    // Where no error can be thrown, the next save throws it.
    #expect(context.pendingErrors.isEmpty && broken["make"] == .null)
    #expect((context.pendingErrors.first as? GraphError)?.property == "make")
  }

  @Test func objectsAreFoundByIDWalkAndRelationship() throws {
    let context = try context()
    let id = try broken(self.context()).objectID
    let found = try #require(try context.existingObject(with: id))
    expectDamage(found) { try found.value(forKey: "make") }
    let owner = try #require(try context.fetch(FetchRequest("Owner")).first)
    #expect(try owner.objects(forKey: "cars").count == 3)
    var walked = 0
    for car in try self.context().fetchedObjects(FetchRequest("Car")) {
      #expect(try !car.value(forKey: "wheels").isNull)
      walked += 1
    }
    #expect(walked == 3)
    var request = FetchRequest("Owner")
    request.relationshipKeyPathsForPrefetching = ["cars"]
    let other = try self.context()
    let cars = try #require(try other.fetch(request).first).objects(forKey: "cars")
    #expect(try cars.map { try $0.value(forKey: "wheels") }.count == 3)
  }

  @Test func anotherChangeLeavesTheColumnAsItIs() throws {
    let context = try context()
    let before = try column("ZMAKE")
    let car = try broken(context)
    try car.setValue(7, forKey: "wheels")
    try context.save()
    #expect(try column("ZMAKE") == before && column("ZWHEELS") == "X'37'")
    expectDamage(car) { try car.value(forKey: "make") }
    try car.setObject(nil, forKey: "owner")
    try context.save()
    #expect(try column("ZMAKE") == before)
  }

  @Test(arguments: [Value.string("repaired"), .null]) func anAssignmentRepairsIt(_ value: Value) throws {
    let context = try context()
    let car = try broken(context)
    try car.setValue(value, forKey: "make")
    #expect(try car.value(forKey: "make") == value && car.changedValues() == ["make": value])
    expectDamage(car) { try car.committedValues(forKeys: ["make"])["make"] ?? .null }
    try context.save()
    let other = try self.context()
    #expect(try broken(other).value(forKey: "make") == value)
    #expect(try column("ZMAKE") == (value.isNull ? "NULL" : "X'7265706169726564'"))
  }

  @Test func theObjectCanBeDeleted() throws {
    let context = try context()
    try context.delete(broken(context))
    try context.save()
    #expect(try cars(self.context()).count == 2)
  }

  @Test func aRelationshipThatLeadsNowhereIsAValueLikeOthers() throws {
    try raw("UPDATE ZCAR SET ZOWNER = 'nobody' WHERE Z_PK = 2")
    var context = try context()
    var car = try broken(context)
    expectDamage(car, "owner") { try car.value(forKey: "owner") }
    #expect(throws: GraphError.self) { try car.object(forKey: "owner") }
    let ann = try #require(try context.fetch(FetchRequest("Owner")).first)
    #expect(try ann.objects(forKey: "cars").count == 2)
    try car.setValue(8, forKey: "wheels")
    try context.save()
    #expect(try column("ZOWNER") == "X'6E6F626F6479'")
    try car.setObject(ann, forKey: "owner")
    try context.save()
    #expect(try column("ZOWNER") == "X'31'")
    #expect(try ann.objects(forKey: "cars").count == 3)
    try raw("UPDATE ZCAR SET ZOWNER = 'nobody' WHERE Z_PK = 2")
    context = try ManagedObjectContext(Self.coordinator(folder, model))
    car = try #require(try context.fetch(FetchRequest("Car", where: "wheels == 8")).first)
    try context.delete(car)
    try context.save()
    // The cascade cannot find the owner's cars.
    #expect(try self.context().fetch(FetchRequest("Owner")).count == 1)
  }

  @Test func undoingARepairPutsTheDamageBackAsLongAsTheFileHasIt() throws {
    let context = try context()
    context.undoManager = UndoManager()
    let car = try broken(context)
    try car.setValue("repaired", forKey: "make")
    try context.undo()
    expectDamage(car) { try car.value(forKey: "make") }
    #expect(!context.hasChanges && !car.hasPersistentChangedValues)
    try context.redo()
    #expect(try car.value(forKey: "make") == "repaired")
    try context.rollback()
    expectDamage(car) { try car.value(forKey: "make") }
    try car.setValue("repaired", forKey: "make")
    try context.save()
    // No save can write the invalid value again.
    expectDamage(car) {
      try context.undo()
      return .null
    }
    #expect(try car.value(forKey: "make") == "repaired" && !context.hasChanges)
  }

  @Test func aDeletionThatIsUndoneBringsItBackUnlessItWasSaved() throws {
    let context = try context()
    context.undoManager = UndoManager()
    let car = try broken(context)
    try context.delete(car)
    try context.undo()
    #expect(!context.hasChanges)
    expectDamage(car) { try car.value(forKey: "make") }
    try context.delete(car)
    try context.save()
    expectDamage(car) {
      try context.undo()
      return .null
    }
    #expect(try cars(context).count == 2 && !context.hasChanges)
  }

  @Test func aRefreshSeesWhatOthersRepaired() throws {
    let context = try context()
    let car = try broken(context)
    try car.setValue(9, forKey: "wheels")
    try raw("UPDATE ZCAR SET ZMAKE = 'fine', Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
    try context.refresh(car, mergeChanges: true)
    #expect(try car.value(forKey: "make") == "fine" && car.value(forKey: "wheels") == 9)
    try context.save()
    #expect(try column("ZMAKE") == "X'66696E65'")
  }

  /// This context and another one each changed a column; the other context's column is damaged.
  @Test(arguments: [true, false]) func aConflictTakesNoDamageForAChange(_ overwrites: Bool) throws {
    let context = try context()
    context.mergePolicy = overwrites ? .overwrite : .mergeByPropertyObjectTrump
    let car = try broken(context)
    try car.setValue(9, forKey: "wheels")
    try raw("UPDATE ZCAR SET ZMAKE = 'fine', Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
    try context.save()
    #expect(try column("ZMAKE") == "X'66696E65'" && column("ZWHEELS") == "X'39'")
    #expect(try car.value(forKey: "make") == "fine")
  }

  /// The store's version wins for its own change, which is not in the column repaired here.
  @Test func aRepairSurvivesAConflictOverAnotherColumn() throws {
    let context = try context()
    context.mergePolicy = .mergeByPropertyStoreTrump
    let car = try broken(context)
    try car.setValue("repaired", forKey: "make")
    try raw("UPDATE ZCAR SET ZWHEELS = 12, Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
    try context.save()
    #expect(try car.value(forKey: "make") == "repaired" && car.value(forKey: "wheels") == 12)
    #expect(try column("ZMAKE") == "X'7265706169726564'")
  }

  @Test func aChildContextReadsTheErrorAndRepairsIt() throws {
    let parent = try context()
    let child = ManagedObjectContext(parent: parent)
    let car = try broken(child)
    expectDamage(car) { try car.value(forKey: "make") }
    try car.setValue(5, forKey: "wheels")
    try child.save()
    try parent.save()
    try car.setValue("repaired", forKey: "make")
    try child.save()
    try parent.save()
    #expect(try column("ZMAKE") == "X'7265706169726564'" && column("ZWHEELS") == "X'35'")
  }

  @Test func aSaveDoesNotCheckWhatItDoesNotWrite() throws {
    try raw("UPDATE ZCAR SET ZSPEED = 'fast' WHERE Z_PK = 2")
    let context = try context()
    let car = try broken(context)
    try car.setValue(5, forKey: "wheels")
    try context.save()
    #expect(try column("ZSPEED") == "X'66617374'")
    try car.setValue(0, forKey: "speed")
    #expect(throws: GraphError.self) { try context.save() }
    try car.setValue(1, forKey: "speed")
    try context.save()
    #expect(try column("ZSPEED") == "X'31'")
  }

  /// SQLite compares the stored bytes. A value that the context must compare is read, which throws its error.
  @Test func aConditionInSQLComparesTheColumnAndOneInMemoryRaisesTheError() throws {
    try raw("UPDATE ZCAR SET ZWHEELS = 'many' WHERE Z_PK = 2")
    let context = try context()
    #expect(try context.fetch(FetchRequest("Car", where: "make == 'make 1'")).count == 1)
    #expect(try context.fetch(FetchRequest("Car", where: "make CONTAINS 'make'")).count == 2)
    #expect(try context.fetch(FetchRequest("Car", where: "make != NULL")).count == 3)
    // SQLite orders texts after all numbers.
    #expect(try context.fetch(FetchRequest("Car", where: "wheels > 1")).map(\.objectID.key) == [2, 3])
    let last = try #require(try cars(context).last)
    expectDamage(last, "wheels") { try last.value(forKey: "wheels") }
    try last.setValue(3, forKey: "speed")
    // An object with unsaved changes is compared in memory.
    expectDamage(last, "wheels") {
      _ = try context.fetch(FetchRequest("Car", where: "wheels > 1"))
      return .null
    }
    #expect(try context.fetch(FetchRequest("Car", where: "speed == 3")) == [last])
  }

  @Test func aDerivedAttributeThatReadsItHasItsError() throws {
    var car = EntityExtension()
    car.derived = [DerivedAttribute("title") { .string("A \(try $0.value(forKey: "make").string ?? "")") }]
    let domain = ExtensionRegistry()
    domain.extensions = ["Car": [car]]
    let context = ManagedObjectContext(coordinator, extensionRegistry: domain)
    let cars = try cars(context)
    #expect(try cars[0].value(forKey: "title") == "A make 1")
    let error = #expect(throws: GraphError.self) { try cars[1].value(forKey: "title") }
    #expect(error?.message.contains("row 2") == true, "\(error as Any)")
    try cars[1].setValue("repaired", forKey: "make")
    #expect(try cars[1].value(forKey: "title") == "A repaired")
  }

  @Test func aStoreIsNotCopiedWithoutIt() throws {
    let store = try #require(coordinator.persistentStores.first)
    let error = #expect(throws: GraphError.self) {
      try coordinator.migratePersistentStore(store, to: InMemoryStore(model: model))
    }
    #expect(error?.property == "make" && error?.message.contains("table ZCAR, row 2") == true, "\(error as Any)")
    #expect(coordinator.persistentStores.first === store)
  }

  @Test(arguments: ["Z_ENT = 77", "ZOWNER = 'x'"]) func whatIsPrefetchedOfOthersIsRead(damage: String) throws {
    try raw("UPDATE ZCAR SET \(damage) WHERE Z_PK = 2")
    let context = try context()
    var request = FetchRequest("Car")
    request.sortDescriptors = [SortDescriptor("speed")]
    request.relationshipKeyPathsForPrefetching = ["owner", "owner.cars"]
    let cars = try context.fetch(request)
    #expect(cars.map(\.objectID.key) == [1, 2, 3])
    for car in cars where car.objectID.key != 2 { #expect(try car.object(forKey: "owner")?["name"] == "Ann") }
    expectDamage(cars[1], "owner") { try cars[1].value(forKey: "owner") }
  }

  @Test func anObjectOfAnUnknownEntityIsThereAndCanBeDeleted() throws {
    try raw("UPDATE ZCAR SET Z_ENT = 77 WHERE Z_PK = 2")
    let context = try context()
    #expect(try context.count(FetchRequest("Car")) == 3)
    let car = try broken(context)
    for name in ["make", "wheels", "speed", "owner"] { expectDamage(car, name) { try car.value(forKey: name) } }
    try context.delete(car)
    try context.save()
    #expect(try cars(self.context()).count == 2)
  }

  /// A passport and its holder refer to each other; the passport's row has an invalid entity, or its key is a text.
  @Test(arguments: ["Z_ENT = 77", "ZHOLDER = 'x'"], [DeleteRule.nullify, .cascade])
  func whoLeadsToADamagedRowByAOneToOneRelationshipIsFoundWhereThatIsDeleted(
    _ damage: String, _ rule: DeleteRule
  ) throws {
    let folder = try TemporaryFolder()
    var passport = EntityDescription("Passport")
    passport.relationships = [.toOne("holder", destination: "Holder", inverse: "passport")]
    passport.relationships[0].deleteRule = rule
    var holder = EntityDescription("Holder")
    holder.relationships = [.toOne("passport", destination: "Passport", inverse: "holder")]
    let model = try ManagedObjectModel(entities: [passport, holder]).resolved()
    let writer = try ManagedObjectContext(Self.coordinator(folder, model))
    for _ in 0..<2 { try writer.insert("Passport").setObject(writer.insert("Holder"), forKey: "holder") }
    try writer.save()
    try RawDatabase(folder.file()).connection.execute("UPDATE ZPASSPORT SET \(damage) WHERE Z_PK = 1")
    let context = try ManagedObjectContext(Self.coordinator(folder, model))
    let passports = try context.fetch(FetchRequest("Passport"))
    try context.delete(try #require(passports.first { $0.objectID.key == 1 }))
    try context.save()
    let raw = try RawDatabase(folder.file())
    #expect(try raw.rows("SELECT Z_PK FROM ZPASSPORT") == ["2"])
    let left = try raw.rows("SELECT COUNT(*), COUNT(ZPASSPORT) FROM ZHOLDER")
    #expect(left == [rule == .cascade ? "1|1" : "2|1"])
  }

  @Test func columnsThatAreFetchedInThePlaceOfObjectsNameTheRow() throws {
    let context = try ManagedObjectContext(coordinator)
    func failure(_ configure: (inout FetchRequest) -> Void) throws -> GraphError? {
      var request = FetchRequest("Car")
      configure(&request)
      return #expect(throws: GraphError.self) { try context.fetchDictionaries(request) }
    }
    let single = try failure { $0.propertiesToFetch = ["make", "wheels"] }
    #expect(single?.message.contains("\(folder.file().path) is damaged: table ZCAR, row 2: Car.make holds") == true)
    #expect(single?.objectID?.key == 2 && single?.entity == "Car" && single?.property == "make")
    let descending = try failure {
      ($0.propertiesToFetch, $0.sortDescriptors) = (["make"], [SortDescriptor("wheels", ascending: false)])
    }
    #expect(descending?.objectID?.key == 2)
    let grouped = try failure { ($0.propertiesToFetch, $0.propertiesToGroupBy) = (["make"], ["make"]) }
    #expect(grouped?.message.contains("table ZCAR, a row of a group: Car.make holds") == true, "\(grouped as Any)")
    try raw("UPDATE ZCAR SET ZMAKE = 'x'; UPDATE ZOWNER SET ZNAME = \(Self.damage)")
    let led = try failure { $0.propertiesToFetch = ["owner.name"] }
    #expect(led?.message.contains("table ZCAR, row 1, or what it leads to: Car.owner.name holds") == true)
  }

  /// A sum in SQL equals the sum in memory, or is an error: no row is silently skipped.
  @Test(arguments: ["'many'", "x'31'", "1.5"]) func sumsAreErrorsToo(_ damage: String) throws {
    try raw("UPDATE ZCAR SET ZMAKE = 'x', ZWHEELS = \(damage) WHERE Z_PK = 2")
    let context = try context()
    for (function, key) in [("@sum", "wheels"), ("@avg", "wheels")] {
      for isGrouped in [false, true] {
        var request = FetchRequest("Car")
        request.propertiesToFetch = [FetchColumn("n", expression: try Expression(format: "\(function).\(key)"))]
        if isGrouped { request.propertiesToGroupBy = ["speed"] }
        let error = #expect(throws: GraphError.self) { try context.fetchDictionaries(request) }
        #expect(error?.code == .invalidStore && error?.message.contains("Car.\(key)") == true, "\(error as Any)")
      }
      let error = #expect(throws: GraphError.self) {
        try context.fetch(FetchRequest("Owner", where: "cars.\(function).\(key) > 1"))
      }
      #expect(error?.code == .invalidStore, "\(error as Any)")
    }
    try raw("UPDATE ZCAR SET ZWHEELS = NULL WHERE Z_PK = 2")
    #expect(try context.fetch(FetchRequest("Owner", where: "cars.@sum.wheels == 4")).count == 1)
  }
}
