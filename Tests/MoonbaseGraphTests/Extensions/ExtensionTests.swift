import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct ExtensionTests {
  private func extensions(_ write: DerivedAttribute.WritePolicy = .immediate) -> ClosureExtensions {
    var result = ClosureExtensions()
    result.register {
      ValueTransformer(
        "ColorTransformer", transformedValue: { .data(Data(String(describing: $0).utf8)) },
        reverseTransformedValue: {
          if case .data(let data) = $0 { .string(String(decoding: data, as: UTF8.self)) } else { $0 }
        })
    }
    result.extend("Person") {
      var hooks = EntityExtension()
      hooks.derived = [
        DerivedAttribute("fullName", ownInputs: ["firstName", "lastName"]) { object in
          guard case .string(let first) = try object.value(forKey: "firstName"),
            case .string(let last) = try object.value(forKey: "lastName")
          else { return .null }
          return .string("\(first) \(last)")
        },
        DerivedAttribute(
          "bounds", ownInputs: ["boundsAsString"], writePolicy: write,
          get: { object in
            guard case .string(let text) = try object.value(forKey: "boundsAsString") else { return .null }
            return .list(text.split(separator: ",").compactMap { Int64($0) }.map(Value.int))
          },
          set: { value, object in
            guard case .list(let list) = value else { return try object.setValue(.null, forKey: "boundsAsString") }
            let numbers = list.map { if case .int(let number) = $0 { "\(number)" } else { "?" } }
            try object.setValue(.string(numbers.joined(separator: ",")), forKey: "boundsAsString")
          }),
      ]
      return hooks
    }
    return result
  }

  /// A transformer that counts its calls in each direction.
  private final class Counting: Sendable {
    let (forth, back) = (Switch(), Switch())

    func transformer() -> ValueTransformer {
      ValueTransformer(
        "ColorTransformer",
        transformedValue: { [forth] value in
          forth.value += 1
          return .data(Data((value.text ?? "").utf8))
        },
        reverseTransformedValue: { [back] value in
          back.value += 1
          guard case .data(let data) = value else { return value }
          return .string(String(decoding: data, as: UTF8.self))
        })
    }
  }

  @Test(arguments: StoreKind.allCases) func aTransformerRunsOnceAndReadingIsNoChange(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let counting = Counting()
    var extensions = ClosureExtensions()
    extensions.register { counting.transformer() }
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions)
    let person = try context.insert("Person", values: ["color": "red"])
    for _ in 0..<3 { #expect(person["color"] == "red") }
    try context.save()
    let slot = try #require(person.entity.slot("color"))
    let row = try context.coordinator.persistentStores[0].snapshot(of: person.objectID)
    #expect(row?.values[slot] == .data(Data("red".utf8)))
    #expect(counting.forth.value == 1 && counting.back.value == 0)
    try context.refresh(person, mergeChanges: false)
    for _ in 0..<3 { #expect(person["color"] == "red") }
    #expect(!context.hasChanges && !person.hasChanges)
    person["firstName"] = "A"
    try context.save()
    #expect(counting.forth.value == 1 && counting.back.value == 1)
  }

  @Test(arguments: StoreKind.allCases) func committedValueOfATransformerIsTheValueThatWasSaved(_ kind: StoreKind) throws
  {
    let bench = try StoreBench(kind)
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions())
    let person = try context.insert("Person", values: ["color": "red"])
    try context.save()
    person["color"] = "blue"
    #expect(try person.committedValues(forKeys: ["color"]) == ["color": "red"])
    #expect(try person.committedValues()["color"] == "red" && person.changedValues() == ["color": "blue"])
  }

  @Test(arguments: StoreKind.allCases) func derivedValueFollowsItsInputs(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions())
    let person = try context.insert("Person", values: ["firstName": "Ann"])
    #expect(person["fullName"] == .null)
    try person.setValue("Lee", forKey: "lastName")
    #expect(person["fullName"] == "Ann Lee")
    #expect { try person.setValue("x", forKey: "fullName") } throws: { ($0 as? GraphError)?.code == .invalidValue }
  }

  @Test(arguments: StoreKind.allCases) func immediateWriteReachesTheShadowAtOnce(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions())
    let person = try context.insert("Person", values: ["bounds": [1, 2]])
    #expect(person["boundsAsString"] == "1,2" && person["bounds"] == [1, 2])
    try person.setValue("3,4", forKey: "boundsAsString")
    #expect(person["bounds"] == [3, 4])
  }

  @Test(arguments: StoreKind.allCases) func delayedWriteReachesTheShadowAtWillSave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions(.delayed))
    let person = try context.insert("Person", values: ["bounds": [1, 2]])
    #expect(person["boundsAsString"] == .null && person["bounds"] == [1, 2])
    #expect { try person.setValue("9", forKey: "boundsAsString") } throws: {
      ($0 as? GraphError)?.code == .invalidValue
    }
    #expect { try person.setPrimitiveValue("9", forKey: "boundsAsString") } throws: {
      ($0 as? GraphError)?.code == .invalidValue
    }
    try context.save()
    #expect(person["boundsAsString"] == "1,2")
    try person.setValue([5], forKey: "bounds")
    try context.refresh(person, mergeChanges: true)
    #expect(person["bounds"] == [5])
    try context.refresh(person, mergeChanges: false)
    #expect(person["bounds"] == [1, 2])
  }

  /// A value shared by all its readers, as a script's table is.
  private final class Shared { var text = "" }

  @Test(arguments: StoreKind.allCases) func aValueChangedInPlaceIsFoundWhereAskedFor(_ kind: StoreKind) throws {
    let shared = Shared()
    var extensions = ClosureExtensions()
    // The transformed value is the shared text at the time of the call.
    nonisolated(unsafe) let text = shared
    extensions.register {
      ValueTransformer(
        "ColorTransformer", transformedValue: { _ in .data(Data(text.text.utf8)) }, reverseTransformedValue: { _ in 1 })
    }
    let bench = try StoreBench(kind)
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions)
    shared.text = "red"
    let person = try context.insert("Person", values: ["color": 1])
    try context.save()
    try context.refresh(person, mergeChanges: false)
    #expect(person["color"] == 1)
    shared.text = "green"
    try context.save()

    context.detectsInPlaceMutation = true
    try context.refresh(person, mergeChanges: false)
    shared.text = "red"
    #expect(person["color"] == 1)
    try context.save()
    #expect(person["color"] == 1)
    try context.refresh(person, mergeChanges: false)
    #expect(person["color"] == 1)
    shared.text = "green"
    #expect {
      try context.save()
    } throws: { error in
      let error = error as? GraphError
      return error?.code == .changedInPlace && error?.entity == "Person" && error?.property == "color"
    }
  }

  @Test(arguments: StoreKind.allCases, [ManagedObjectContext.SaveOrder.validateFirst, .willSaveFirst])
  func aRequiredStoredAttributeIsComputedBeforeItIsMissed(
    _ kind: StoreKind, _ order: ManagedObjectContext.SaveOrder
  ) throws {
    var model = People.model()
    var initials = AttributeDescription("initials", type: .string)
    initials.isOptional = false
    initials.validation.maximumLength = 3
    model.entities[0].attributes.append(initials)
    let bench = try StoreBench(kind, model)
    let context = bench.context { entry in
      entry.stored = [DerivedAttribute("initials", ownInputs: ["firstName"]) { try $0.value(forKey: "firstName") }]
    }
    context.saveOrder = order
    let person = try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    #expect(try bench.saved("Person", "initials") == ["A"])
    try person.setValue(.null, forKey: "firstName")
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .missingMandatoryProperty && error?.property == "initials")
    #expect(error?.message.contains("what computes it gave no value") == true)
    // The attribute's other rules still apply.
    try person.setValue("long", forKey: "firstName")
    #expect(throws: GraphError.self) { try context.save() }
    try person.setValue("B", forKey: "firstName")
    try context.save()
    #expect(try bench.saved("Person", "initials") == ["B"])
  }
}
