import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@Suite struct KeyPathTests {
  /// Two people and an employee of a department: Ann and Bob are friends, Eve has no friends.
  private struct Office {
    let bench: StoreBench
    let context: ManagedObjectContext
    let department: ManagedObject
    let (ann, bob, eve): (ManagedObject, ManagedObject, ManagedObject)

    init(_ kind: StoreKind, _ model: ManagedObjectModel = People.model()) throws {
      bench = try StoreBench(kind, model)
      context = bench.context()
      department = try context.insert("Department", values: ["name": "Research"])
      let place: Value = .objectID(department.objectID)
      ann = try context.insert("Person", values: ["firstName": "Ann", "age": 30, "department": place])
      bob = try context.insert("Person", values: ["firstName": "Bob", "age": 20, "department": place])
      eve = try context.insert("Employee", values: ["firstName": "Eve", "age": 40, "salary": 100, "department": place])
      try ann.setObjects([bob], forKey: "friends")
    }
  }

  @Test(arguments: StoreKind.allCases) func aPathLeadsThroughOneAndThroughMany(_ kind: StoreKind) throws {
    let office = try Office(kind)
    #expect(try office.ann.value(forKeyPath: "firstName") == "Ann")
    #expect(try office.ann.value(forKeyPath: "department.name") == "Research")
    #expect(try office.ann.value(forKeyPath: "department") == .objectID(office.department.objectID))
    let ages = try office.ann.value(forKeyPath: "department.employees.age").list ?? []
    #expect(ages.compactMap(\.int).sorted() == [20, 30, 40])
    #expect(try office.ann.value(forKeyPath: "self.firstName") == "Ann")
    #expect(try office.bob.value(forKeyPath: "friends.objectID") == [.objectID(office.ann.objectID)])
  }

  @Test(arguments: StoreKind.allCases) func operatorsComputeOverCollections(_ kind: StoreKind) throws {
    let office = try Office(kind)
    let expected: [String: Value] = [
      "employees.@count": 3, "employees.@sum.age": 90, "employees.@avg.age": 30.0, "employees.@min.age": 20,
      "employees.@max.firstName": "Eve", "employees.@distinctUnionOfObjects.department.name": ["Research"],
      "employees.@unionOfObjects.department.name": ["Research", "Research", "Research"],
      "employees.friends.@count": 2, "projects.@count": 0, "projects.@sum.title": 0, "projects.@max.title": .null,
    ]
    for (path, value) in expected {
      #expect(try office.department.value(forKeyPath: path) == value, "\(path)")
    }
    try office.context.save()
    let stranger = office.bench.stranger()
    let saved = try stranger.object(with: office.department.objectID)
    for (path, value) in expected { #expect(try saved.value(forKeyPath: path) == value, "\(path)") }
  }

  @Test(arguments: StoreKind.allCases) func behindAMissingDestinationThereIsNothing(_ kind: StoreKind) throws {
    let office = try Office(kind)
    try office.ann.setObject(nil, forKey: "department")
    #expect(try office.ann.value(forKeyPath: "department.name") == .null)
    #expect(try office.ann.value(forKeyPath: "department.employees.@count") == 0)
  }

  /// Paths are resolved at run time, as in key-value coding: an object may have more keys than the declared entity.
  @Test(arguments: StoreKind.allCases) func aPathFindsKeysOfSubentities(_ kind: StoreKind) throws {
    let office = try Office(kind)
    try office.eve.setObjects([office.bob], forKey: "friends")
    try office.bob.setObjects([office.eve], forKey: "friends")
    #expect(try office.bob.value(forKeyPath: "friends.salary") == [100.0])
  }

  @Test(arguments: StoreKind.allCases) func aPathSeesWhatAwakeFromFetchSetAndFetchedProperties(_ kind: StoreKind) throws
  {
    var model = People.model()
    let request = try FetchRequest("Person", where: "department == $FETCH_SOURCE AND age > 25")
    model.entities[2].fetchedProperties = [FetchedPropertyDescription("seniors", fetchRequest: request)]
    let office = try Office(kind, model)
    #expect(try office.ann.value(forKeyPath: "department.seniors.@count") == 2)
    try office.context.save()
    let stranger = office.bench.stranger(["Department": [.awakening { try $0.setValue("awake", forKey: "name") }]])
    let ann = try stranger.object(with: office.ann.objectID)
    #expect(try ann.value(forKeyPath: "department.name") == "awake")
  }

  @Test(arguments: StoreKind.allCases) func mistakesNameEntityAndPath(_ kind: StoreKind) throws {
    let office = try Office(kind)
    let mistakes = [
      "department.nmae": "Department has no property nmae", "employees.@smu.age": "there is no operator @smu",
      "age.@count": "key path age.@count: @count needs a collection", "department..name": "has an empty key",
      "age.years": "has no key years", "employees.age": "Person has no property employees",
    ]
    for (path, message) in mistakes {
      let error = #expect(throws: GraphError.self, "\(path)") { try office.ann.value(forKeyPath: path) }
      #expect(error?.message.contains(message) == true, "\(path): \(error?.message ?? "")")
    }
    try office.context.rollback()
    #expect { try office.ann.value(forKeyPath: "department.name") } throws: { "\($0)".contains("rolled back") }
  }

  @Test(arguments: StoreKind.allCases) func settingAlongAPathSetsAllOrNothing(_ kind: StoreKind) throws {
    let office = try Office(kind)
    try office.ann.setValue("Sales", forKeyPath: "department.name")
    #expect(office.department["name"] == "Sales")
    try office.department.setValue(50, forKeyPath: "employees.age")
    #expect(office.ann["age"] == 50 && office.eve["age"] == 50)
    // Only an employee has a salary; the people before the failing one keep their values.
    #expect { try office.department.setValue(1, forKeyPath: "employees.salary") } throws: {
      "\($0)".contains("Person has no property salary")
    }
    #expect(office.eve["salary"] == 100.0)
    #expect(throws: GraphError.self) { try office.department.setValue(1000, forKeyPath: "employees.department.name") }
    #expect(office.department["name"] == "Sales")
  }

  @Test(arguments: StoreKind.allCases) func settingBehindNothingOrThroughAnOperatorIsRefused(_ kind: StoreKind) throws {
    let office = try Office(kind)
    try office.bob.setObject(nil, forKey: "department")
    let mistakes = [
      "department.name": "department of \(office.bob.objectID) has no destination",
      "department.employees.@count": "@count computes a value",
      "firstName.length": "is an attribute, which leads to no object",
      "friends.nmae": "Person has no property nmae", ".age": "has an empty key",
    ]
    for (path, message) in mistakes {
      let error = #expect(throws: GraphError.self, "\(path)") { try office.bob.setValue("x", forKeyPath: path) }
      #expect(error?.message.contains(message) == true, "\(path): \(error?.message ?? "")")
    }
  }

  @Test(arguments: StoreKind.allCases) func valuesGoInAndOutByName(_ kind: StoreKind) throws {
    let office = try Office(kind)
    let values = try office.ann.dictionaryWithValues(forKeys: ["firstName", "age", "lastName"])
    #expect(values == ["firstName": "Ann", "age": 30, "lastName": .null])
    try office.bob.setValuesForKeys(["firstName": "Bill", "age": .int(21), "lastName": "Boy"])
    #expect(office.bob["firstName"] == "Bill" && office.bob["age"] == 21)
    #expect(throws: GraphError.self) {
      try office.bob.setValuesForKeys(["firstName": "X", "lastName": "Y", "age": "old", "born": .null])
    }
    #expect(office.bob["firstName"] == "Bill" && office.bob["lastName"] == "Boy" && office.bob["age"] == 21)
    #expect(throws: GraphError.self) { try office.bob.dictionaryWithValues(forKeys: ["aeg"]) }
  }
}

extension EntityExtension {
  fileprivate static func awakening(_ hook: @escaping Hook) -> EntityExtension {
    var entry = EntityExtension()
    entry.awakeFromFetch = hook
    return entry
  }
}
