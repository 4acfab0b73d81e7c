import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Derived attributes that a subentity computes or writes differently from its parent.
@Suite struct OverriddenAttributeTests {
  private func model() -> ManagedObjectModel {
    var parent = EntityDescription("Parent")
    var computed = AttributeDescription("computed", type: .string)
    computed.isTransient = true
    parent.attributes = [
      AttributeDescription("text", type: .string), AttributeDescription("kept", type: .string), computed,
    ]
    var child = EntityDescription("Child")
    child.superentityName = "Parent"
    return ManagedObjectModel(entities: [parent, child])
  }

  @Test(arguments: StoreKind.allCases) func nothingOfAnOverriddenAttributeIsLeft(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, model())
    var early = 0
    var parent = EntityExtension()
    parent.derived = [
      DerivedAttribute(
        "computed", ownInputs: ["text"], readPolicy: .preCalculated, writePolicy: .delayed,
        get: { _ in
          early += 1
          return "parent"
        }, set: { value, object in object["text"] = value })
    ]
    parent.stored = [DerivedAttribute("kept", ownInputs: ["text"], get: { _ in "parent" })]
    var child = EntityExtension()
    child.derived = [DerivedAttribute("computed", ownInputs: ["text"], get: { $0["text"] }, set: { $1["text"] = $0 })]
    child.stored = [DerivedAttribute("kept", ownInputs: ["text"], get: { $0["text"] })]
    let extensions = ["Parent": [parent], "Child": [child]]
    let context = bench.context(extensions)
    let object = try context.insert("Child", values: ["text": "own"])
    object["computed"] = "new"
    // Written at once, so no delayed write can be refused.
    #expect(object["text"] == "new" && object["computed"] == "new")
    object["text"] = "newer"
    try context.save()
    #expect(object["kept"] == "newer" && object["computed"] == "newer")
    #expect(try bench.saved("Child", "kept") == ["newer"])
    let after = bench.context(extensions)
    let fetched = try #require(try after.fetch(FetchRequest("Parent")).first)
    #expect(fetched["text"] == "newer" && early == 0)
  }
}
