import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Values set without change notification: a save writes every difference from the row, however it was set.
@Suite struct PrimitiveValueTests {
  @Test(arguments: StoreKind.allCases, [ManagedObjectContext.SaveOrder.validateFirst, .willSaveFirst])
  func aPrimitiveValueSetInWillSaveIsSaved(_ kind: StoreKind, _ order: ManagedObjectContext.SaveOrder) throws {
    let bench = try StoreBench(kind)
    let count = Switch()
    let context = bench.context { entry in
      entry.willSave = { object in
        // A new value on each call; with change notification, the hook would be called repeatedly.
        count.value += 1
        try object.setPrimitiveValue(.string("saved \(count.value)"), forKey: "lastName")
      }
    }
    context.saveOrder = order
    let person = try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    #expect(try bench.saved("Person", "lastName") == ["saved 1"])
    try person.setValue("B", forKey: "firstName")
    try context.save()
    #expect(try bench.saved("Person", "lastName") == ["saved 2"] && !context.hasChanges)
    #expect(try person.committedValues(forKeys: ["lastName"]) == ["lastName": "saved 2"])
  }

  @Test(arguments: StoreKind.allCases)
  func aPrimitiveValueIsKeptUntilTheNextSaveThoughTheObjectCountsAsUnchanged(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    // Only the context keeps the object meanwhile.
    func fetched() throws -> ManagedObject { try #require(try context.fetch(FetchRequest("Person")).first) }
    try fetched().setPrimitiveValue("L", forKey: "lastName")
    #expect(try !fetched().hasChanges && context.hasChanges && context.updatedObjects.count == 1)
    #expect(try fetched()["lastName"] == "L" && fetched().committedValues(forKeys: ["lastName"]) == ["lastName": .null])
    #expect(context.brokenInvariants() == [])
    try context.save()
    #expect(try bench.saved("Person", "lastName") == ["L"] && !context.hasChanges)
    try fetched().setPrimitiveValue("M", forKey: "lastName")
    try context.rollback()
    #expect(try fetched()["lastName"] == "L" && !context.hasChanges && context.brokenInvariants() == [])
    try fetched().setPrimitiveValue("L", forKey: "lastName")
    #expect(!context.hasChanges)
  }

  @Test(arguments: StoreKind.allCases)
  func aPrimitiveValueSetInWillSaveIsValidated(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.willSave = { try $0.setPrimitiveValue(200, forKey: "age") }
    }
    let person = try context.insert("Person", values: ["firstName": "A"])
    #expect { try context.save() } throws: { ($0 as? GraphError)?.property == "age" }
    #expect(try person["age"] == 0 && bench.saved("Person", "age") == [])
  }

  /// A saved person, and a context in which `awakeFromFetch` sets the last name and runs `hook`.
  private func waking(
    _ kind: StoreKind, _ values: [String: Value], _ hook: @escaping (ManagedObject) throws -> Void
  ) throws -> (bench: StoreBench, other: ManagedObjectContext, saved: ManagedObject, context: ManagedObjectContext) {
    let bench = try StoreBench(kind)
    let other = bench.context()
    let saved = try other.insert("Person", values: values)
    try other.save()
    let context = bench.context { entry in
      entry.awakeFromFetch = { object in
        try object.setValue("awake", forKey: "lastName")
        try hook(object)
      }
    }
    return (bench, other, saved, context)
  }

  @Test(arguments: StoreKind.allCases)
  func whatAwakeFromFetchSetsIsNoChangeAndIsSavedWithTheNextOne(_ kind: StoreKind) throws {
    let (bench, _, _, context) = try waking(kind, ["firstName": "A"]) {
      try $0.setPrimitiveValue("primitive", forKey: "email")
    }
    let person = try #require(try context.fetch(FetchRequest("Person")).first)
    #expect(person["lastName"] == "awake" && person["email"] == "primitive")
    #expect(!person.hasChanges && !context.hasChanges)
    let committed = ["lastName": Value.null, "email": .null]
    #expect(try person.committedValues(forKeys: ["lastName", "email"]) == committed)
    try context.save()
    #expect(try bench.saved("Person", "lastName") == [.null])
    try person.setValue("B", forKey: "firstName")
    #expect(try person.committedValues(forKeys: ["lastName", "email"]) == committed)
    try context.save()
    #expect(try bench.saved("Person", "lastName") == ["awake"] && bench.saved("Person", "email") == ["primitive"])
    #expect(try person.committedValues(forKeys: ["lastName"]) == ["lastName": "awake"])
  }

  @Test(arguments: StoreKind.allCases)
  func aRefreshOfAnUnchangedObjectDoesNotPutOldAwakeValuesOverNewOnes(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let other = bench.context()
    let original = try other.insert("Person", values: ["firstName": "A"])
    try other.save()
    let context = bench.context { entry in
      entry.awakeFromFetch = { object in
        if try object.value(forKey: "lastName").isNull { try object.setValue("awake", forKey: "lastName") }
      }
    }
    let person = try context.object(with: original.objectID)
    #expect(person["lastName"] == "awake")
    try original.setValue("newer", forKey: "lastName")
    try other.save()
    try context.refresh(person, mergeChanges: true)
    #expect(person["lastName"] == "newer" && !person.hasChanges)
  }

  @Test(arguments: StoreKind.allCases)
  func aPrimitiveValueIsOfTheClassOfItsAttribute(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let domain = ExtensionRegistry()
    domain.valueClasses["Short"] = ValueClass("Short") { value in
      if case .string(let text) = value { text.utf8.count < 4 } else { false }
    }
    domain.attributeValueClasses["Person"] = ["lastName": "Short"]
    let context = ManagedObjectContext(bench.coordinator, extensionRegistry: domain)
    let person = try context.insert("Person", values: ["lastName": "abc"])
    #expect { try person.setPrimitiveValue("too long", forKey: "lastName") } throws: {
      "\($0)".contains("its values are of class Short")
    }
    #expect(try person.value(forKey: "lastName") == "abc")
    try person.setPrimitiveValue("ab", forKey: "lastName")
    try context.save()
    #expect(try bench.saved("Person", "lastName") == ["ab"])
  }

  @Test(arguments: StoreKind.allCases)
  func aDeletedObjectTakesNoPrimitiveValue(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person", values: ["lastName": "abc"])
    try context.save()
    try context.delete(person)
    #expect { try person.setPrimitiveValue("x", forKey: "lastName") } throws: {
      "\($0)".contains("is deleted and cannot be changed")
    }
    #expect(try person.value(forKey: "lastName") == "abc")
    try context.save()
  }

  /// The hook is not called again while the object keeps its values.
  @Test(arguments: StoreKind.allCases) func whatAwakeFromFetchSetStaysWhereTheNewerRowHasTheSame(_ kind: StoreKind)
    throws
  {
    let (bench, other, saved, context) = try waking(kind, ["firstName": "A", "email": "a"]) {
      try $0.setValue("awake", forKey: "email")
    }
    defer { withExtendedLifetime(bench) {} }
    let person = try #require(try context.fetch(FetchRequest("Person")).first)
    #expect(person["lastName"] == "awake" && person["email"] == "awake")
    try saved.setValue("b", forKey: "email")
    try other.save()
    try context.refresh(person, mergeChanges: true)
    #expect(person["lastName"] == "awake" && person["email"] == "b" && !context.hasChanges)
    #expect(try person.committedValues(forKeys: ["lastName", "email"]) == ["lastName": .null, "email": "b"])
    #expect(context.brokenInvariants() == [])
    try context.refresh(person, mergeChanges: false)
    #expect(person["lastName"] == "awake" && person["email"] == "awake")
  }
}
