import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Validation of an update beside the changed values (see `ObjectValidationTests`).
@Suite struct UpdateValidationTests {
  /// A person saved by a context without extensions.
  private func saved(_ kind: StoreKind, _ values: [String: Value]) throws -> (bench: StoreBench, id: ManagedObjectID) {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person", values: values)
    try context.save()
    return (bench, person.objectID)
  }

  /// No store has a transient value, so a read object's required transient value is missing only after it is set to
  /// null.
  @Test(arguments: StoreKind.allCases) func aTransientValueThatNobodySetIsNotMissing(_ kind: StoreKind) throws {
    var flag = AttributeDescription("flag", type: .boolean)
    (flag.isTransient, flag.isOptional, flag.defaultValue) = (true, false, false)
    let model = ManagedObjectModel {
      EntityDescription("Note") {
        AttributeDescription("text", type: .string)
        flag
      }
    }
    let bench = try StoreBench(kind, model)
    let writer = bench.context()
    let written = try writer.insert("Note", values: ["text": "a"])
    try writer.save()
    let context = bench.context()
    let note = try context.object(with: written.objectID)
    note["text"] = "b"
    try context.save()
    #expect(try bench.saved("Note", "text") == ["b"] && note["flag"] == .null)
    note["flag"] = true
    try context.save()
    note["flag"] = .null
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.property == "flag")
    note["flag"] = false
    try context.save()
  }

  @Test(arguments: StoreKind.allCases) func anUpdateNormalizesWhatDidNotChange(_ kind: StoreKind) throws {
    let (bench, id) = try saved(kind, ["firstName": "ann"])
    let context = bench.context { entry in
      entry.normalize["firstName"] = { name, _ in .string(name.string?.uppercased() ?? "") }
    }
    let person = try context.object(with: id)
    person["age"] = 5
    try context.save()
    #expect(person["firstName"] == "ANN")
    #expect(try bench.saved("Person", "firstName") == ["ANN"])
  }

  /// Checking that an unchanged required value is present does not decode the value.
  @Test(arguments: StoreKind.allCases) func aRequiredValueThatDidNotChangeIsNotDecoded(_ kind: StoreKind) throws {
    var model = People.model()
    model.entities[0].attributes[3].isOptional = false
    let bench = try StoreBench(kind, model)
    var count = 0
    let domain = ExtensionRegistry()
    domain.transformers["ColorTransformer"] = ValueTransformer(
      "ColorTransformer", transformedValue: { .data(Data(($0.string ?? "").utf8)) },
      reverseTransformedValue: { bytes in
        count += 1
        return .string(String(decoding: bytes.data ?? Data(), as: UTF8.self))
      })
    let first = ManagedObjectContext(bench.coordinator, extensionRegistry: domain)
    let id = try first.insert("Person", values: ["color": "red"]).objectID
    #expect(id.isTemporaryID)
    try first.save()
    let context = ManagedObjectContext(bench.coordinator, extensionRegistry: domain)
    let person = try #require(try context.fetch(FetchRequest("Person")).first)
    person["age"] = 5
    try context.save()
    #expect(count == 0 && person["color"] == "red" && count == 1)
    person["color"] = .null
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .missingMandatoryProperty && error?.property == "color")
  }

  @Test(arguments: StoreKind.allCases) func aRelationshipThatWasNotReadIsNotCounted(_ kind: StoreKind) throws {
    var model = People.model()
    model.entities[2].relationships[0].minCount = 1
    model.entities[2].relationships[0].isOptional = false
    let bench = try StoreBench(kind, model)
    let first = bench.context()
    let department = try first.insert("Department")
    let person = try first.insert("Person", values: ["department": .objectID(department.objectID)])
    try first.save()
    let context = bench.stranger()
    let same = try context.object(with: department.objectID)
    same["name"] = "Research"
    try context.save()
    #expect(try same.hasFault(forRelationshipNamed: "employees"))
    // The object that lost its last destination is validated.
    try first.delete(person)
    let error = #expect(throws: GraphError.self) { try first.save() }
    #expect(error?.code == .relationshipLacksMinimumCount && error?.property == "employees")
  }
}
