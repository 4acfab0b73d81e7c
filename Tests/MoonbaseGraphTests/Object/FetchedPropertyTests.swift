import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@Suite struct FetchedPropertyTests {
  private func bench(_ kind: StoreKind) throws -> StoreBench {
    var model = People.model()
    var peers = FetchedPropertyDescription(
      "peers", fetchRequest: try FetchRequest("Person", where: "age == $FETCH_SOURCE.age AND SELF != $FETCH_SOURCE"))
    peers.fetchRequest.sortDescriptors = [SortDescriptor("firstName")]
    let colleagues = FetchedPropertyDescription(
      "colleagues", fetchRequest: try FetchRequest("Person", where: "department.name == $FETCH_SOURCE.department.name"))
    var elders = FetchedPropertyDescription(
      "elders", fetchRequest: try FetchRequest("Person", where: "age >= $FETCHED_PROPERTY.userInfo.age"))
    elders.userInfo = ["age": 60]
    let friends = FetchedPropertyDescription(
      "friendsOfFriends", fetchRequest: try FetchRequest("Person", where: "ANY friends IN $FETCH_SOURCE.friends"))
    model.entities[0].fetchedProperties = [peers, colleagues, elders, friends]
    return try StoreBench(kind, model)
  }

  private func names(_ value: Value, _ context: ManagedObjectContext) throws -> [Value] {
    guard case .list(let ids) = value else { return [] }
    return try ids.map { id in
      guard case .objectID(let id) = id else { return .null }
      return try context.object(with: id).value(forKey: "firstName")
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func aFetchedPropertyIsAFetchWithItsObjectAsTheSource(_ kind: StoreKind, isSaved: Bool) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let moon = try context.insert("Department")
    moon["name"] = "Moon"
    let people = try [("Ada", 36), ("Bob", 36), ("Cyd", 70), ("Dan", 36)].enumerated().map { number, person in
      let object = try context.insert(number == 2 ? "Employee" : "Person")
      try object.setValue(.string(person.0), forKey: "firstName")
      try object.setValue(.string(person.0), forKey: "email")
      try object.setValue(.int(Int64(person.1)), forKey: "age")
      return object
    }
    try people[0].setObject(moon, forKey: "department")
    try people[2].setObject(moon, forKey: "department")
    try people[0].add(people[1], to: "friends")
    try people[3].add(people[1], to: "friends")
    if isSaved { try context.save() }
    #expect(try names(people[0].value(forKey: "peers"), context) == ["Bob", "Dan"])
    #expect(try Set(names(people[0].value(forKey: "colleagues"), context)) == ["Ada", "Cyd"])
    #expect(try people[1].fetchedObjects(forKey: "elders") == [people[2]])
    #expect(try Set(people[0].fetchedObjects(forKey: "friendsOfFriends")) == [people[0], people[3]])
    // Employees inherit the fetched property, and each read is a new fetch.
    people[2]["age"] = 36
    #expect(try names(people[2].value(forKey: "peers"), context) == ["Ada", "Bob", "Dan"])
    #expect(people[2]["elders"] == [])
  }

  @Test(arguments: StoreKind.allCases) func assigningOneIsAnErrorThatSaysWhy(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let person = try context.insert("Person")
    for attempt in [
      { try person.setValue([], forKey: "peers") }, { try person.setPrimitiveValue([], forKey: "peers") },
      { try person.validate([], forKey: "peers") },
    ] {
      let error = #expect(throws: GraphError.self) { try attempt() }
      #expect(error?.property == "peers" && error?.message.contains("it is read and not assigned") == true)
    }
    try context.delete(person)
    try context.save()
    #expect(throws: GraphError.self) { try person.value(forKey: "peers") }
  }
}
