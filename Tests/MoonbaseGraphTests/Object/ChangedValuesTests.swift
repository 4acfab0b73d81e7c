import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// `changedValues` and `hasPersistentChangedValues` as Core Data documents them.
@Suite struct ChangedValuesTests {
  private func saved(_ kind: StoreKind, _ model: ManagedObjectModel = People.model()) throws -> (
    bench: StoreBench, context: ManagedObjectContext, person: ManagedObject
  ) {
    let bench = try StoreBench(kind, model)
    let context = bench.context()
    let person = try context.insert("Person", values: ["firstName": "Ann", "age": 30])
    try context.save()
    return (bench, context, person)
  }

  @Test(arguments: StoreKind.allCases) func changedValuesAreThoseThatASaveWrites(_ kind: StoreKind) throws {
    let saved = try saved(kind)
    let (context, person) = (saved.context, saved.person)
    #expect(try person.changedValues().isEmpty && !person.hasPersistentChangedValues)
    person["age"] = 31
    #expect(try person.changedValues() == ["age": 31] && person.hasPersistentChangedValues)
    person["age"] = 30
    #expect(try person.changedValues().isEmpty && !person.hasPersistentChangedValues && person.hasChanges)
    try context.save()
    #expect(!person.hasChanges)
  }

  @Test(arguments: StoreKind.allCases) func transientValuesAreNoPersistentChanges(_ kind: StoreKind) throws {
    let saved = try saved(kind)
    let person = saved.person
    person["fullName"] = "Ann A"
    #expect(person.hasChanges && !person.hasPersistentChangedValues)
    #expect(try person.changedValues().isEmpty)
    try person.setPrimitiveValue("A", forKey: "lastName")
    #expect(try person.changedValues() == ["lastName": "A"])
  }

  @Test(arguments: StoreKind.allCases) func noRelationshipFaultIsFired(_ kind: StoreKind) throws {
    let saved = try saved(kind)
    let (bench, person) = (saved.bench, saved.person)
    let context = bench.stranger()
    let fault = try context.object(with: person.objectID)
    let friend = try context.insert("Person", values: ["firstName": "Bob"])
    try fault.add(friend, to: "friends")
    fault["age"] = 32
    #expect(try fault.changedValues() == ["age": 32, "friends": [.objectID(friend.objectID)]])
    #expect(try fault.hasFault(forRelationshipNamed: "friends"))
    #expect(fault.hasPersistentChangedValues)
    try fault.remove(friend, from: "friends")
    #expect(try fault.changedValues() == ["age": 32])
  }

  @Test(arguments: StoreKind.allCases) func ofANewObjectTheyAreWhatWasSet(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person")
    #expect(try person.changedValues().isEmpty && !person.hasPersistentChangedValues)
    person["firstName"] = "Ann"
    #expect(try person.changedValues() == ["firstName": "Ann"] && person.hasPersistentChangedValues)
  }

  @Test(arguments: StoreKind.allCases) func whatAwakeFromFetchSetsIsNoChange(_ kind: StoreKind) throws {
    let saved = try saved(kind)
    let (bench, person) = (saved.bench, saved.person)
    var entry = EntityExtension()
    entry.awakeFromFetch = { try $0.setValue("awake", forKey: "lastName") }
    let context = bench.stranger(["Person": [entry]])
    let fetched = try context.object(with: person.objectID)
    #expect(fetched["lastName"] == "awake")
    #expect(try fetched.changedValues().isEmpty && !fetched.hasPersistentChangedValues)
    // The value is written when the object is saved for another change.
    fetched["age"] = 33
    #expect(try fetched.changedValues() == ["age": 33, "lastName": "awake"])
  }

  @Test(arguments: StoreKind.allCases) func aDelayedStoredValueIsAChange(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.stored = [
        DerivedAttribute(
          "lastName", writePolicy: .delayed, get: { try $0.value(forKey: "firstName") },
          set: { try $1.setValue($0, forKey: "firstName") })
      ]
    }
    let person = try context.insert("Person", values: ["firstName": "Ann"])
    try context.save()
    #expect(try !person.hasPersistentChangedValues && person.changedValues().isEmpty)
    person["lastName"] = "Bob"
    #expect(try person.changedValues() == ["lastName": "Bob"] && person.hasPersistentChangedValues)
  }
}
