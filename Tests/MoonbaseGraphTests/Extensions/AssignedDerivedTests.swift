import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Assignments to derived attributes.
@Suite struct AssignedDerivedTests {
  private func bench(_ kind: StoreKind, _ policy: DerivedAttribute.WritePolicy = .immediate) throws -> (
    StoreBench, [String: [EntityExtension]]
  ) {
    var thing = EntityDescription("Thing")
    var upper = AttributeDescription("upper", type: .string)
    upper.isTransient = true
    thing.attributes = [AttributeDescription("name", type: .string), upper]
    var entry = EntityExtension()
    entry.derived = [
      DerivedAttribute(
        "upper", ownInputs: ["name"], writePolicy: policy,
        get: { thing in (try thing.value(forKey: "name").text).map { .string($0.uppercased()) } ?? .null },
        set: { value, thing in try thing.setValue(value.text.map { .string($0.lowercased()) } ?? .null, forKey: "name")
        })
    ]
    return (try StoreBench(kind, ManagedObjectModel(entities: [thing])), ["Thing": [entry]])
  }

  @Test(arguments: StoreKind.allCases)
  func anAssignedAttributeShowsWhatIsComputedAndNotWhatWasAssigned(_ kind: StoreKind) throws {
    let (bench, extensions) = try bench(kind)
    let context = bench.context(extensions)
    let thing = try context.insert("Thing")
    thing["upper"] = "sEtT"
    #expect(thing["upper"] == "SETT" && thing["name"] == "sett")
    func count(_ format: String) throws -> Int {
      try context.count(FetchRequest("Thing", where: try Predicate(format: format)))
    }
    #expect(try count("upper = 'sEtT'") == 0 && count("upper = 'SETT'") == 1)
    try context.save()
    #expect(thing["upper"] == "SETT")
    #expect(try count("upper = 'sEtT'") == 0 && count("upper = 'SETT'") == 1)
  }

  @Test(arguments: StoreKind.allCases) func aDelayedValueThatIsSetAgainAndAgainSettles(_ kind: StoreKind) throws {
    let (bench, made) = try bench(kind, .delayed)
    var extensions = made
    extensions["Thing"]?[0].willSave = { thing in thing["upper"] = "SET" }
    let context = bench.context(extensions)
    let thing = try context.insert("Thing", values: ["name": "first"])
    try context.save()
    #expect(thing["upper"] == "SET" && thing["name"] == "set" && !context.hasChanges)
    thing["upper"] = "SET"
    #expect(!context.hasChanges)
    #expect(context.pendingErrors.isEmpty)
  }
}
