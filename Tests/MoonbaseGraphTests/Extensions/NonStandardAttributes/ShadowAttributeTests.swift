import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// A transient attribute over a persistent one, in the four ways of Apple's guide, by a subclass and by an extension.
///
/// Source: Core Data Programming Guide, Non-Standard Persistent Attributes.
@Suite struct ShadowAttributeTests {
  private typealias Way = ShadowBench.Way
  private static let rect = Rect(1, 2, 3, 4)
  private static let other = Rect(5, 6, 7, 8)

  /// A saved shape, and a context that has not read it yet.
  private func saved(_ bench: ShadowBench) throws -> ManagedObjectContext {
    let context = bench.context()
    try context.insert("Shape", values: ["name": "a", "boundsAsString": Self.rect.text])
    try context.save()
    return bench.context()
  }

  private func first(_ context: ManagedObjectContext) throws -> ManagedObject {
    try #require(try context.fetch(FetchRequest("Shape")).first)
  }

  // MARK: Getting

  @Test(arguments: StoreKind.allCases, ShadowBench.Way.allCases)
  func onDemandTheValueIsMadeAtTheFirstAccessAndKept(_ kind: StoreKind, _ way: ShadowBench.Way) throws {
    let bench = try ShadowBench(kind, way)
    let context = try saved(bench)
    let shape = try first(context)
    let before = bench.decoded(shape)
    #expect(try shape.value(forKey: "name") == "a")
    #expect(bench.decoded(shape) == before)
    for _ in 0..<3 { #expect(try shape.value(forKey: "bounds") == Self.rect.value) }
    #expect(bench.decoded(shape) == before + 1)
  }

  @Test(arguments: StoreKind.allCases, ShadowBench.Way.allCases)
  func preCalculatedTheValueIsMadeWhenTheFaultFires(_ kind: StoreKind, _ way: ShadowBench.Way) throws {
    let bench = try ShadowBench(kind, way, read: .preCalculated)
    let context = try saved(bench)
    let shape = try first(context)
    let before = bench.decoded(shape)
    #expect(try shape.value(forKey: "name") == "a")
    #expect(bench.decoded(shape) == before + 1)
    #expect(try shape.value(forKey: "bounds") == Self.rect.value)
    #expect(bench.decoded(shape) == before + 1)
  }

  @Test(
    arguments: ShadowBench.Way.allCases,
    [DerivedAttribute.ReadPolicy.onDemand, DerivedAttribute.ReadPolicy.preCalculated])
  func aGetIsNeverAChange(_ way: ShadowBench.Way, _ read: DerivedAttribute.ReadPolicy) throws {
    for kind in StoreKind.allCases {
      let bench = try ShadowBench(kind, way, read: read)
      let context = try saved(bench)
      let shape = try first(context)
      #expect(try shape.value(forKey: "bounds") == Self.rect.value)
      #expect(!shape.hasChanges && !context.hasChanges && context.updatedObjects.isEmpty)
      #expect(try shape.changedValues() == [:])
      let version = try context.coordinator.persistentStores[0].snapshot(of: shape.objectID)?.version
      try context.save()
      #expect(try context.coordinator.persistentStores[0].snapshot(of: shape.objectID)?.version == version)
    }
  }

  // MARK: Setting

  @Test(arguments: StoreKind.allCases, ShadowBench.Way.allCases)
  func setAtOnceTheShadowFollowsTheAssignment(_ kind: StoreKind, _ way: ShadowBench.Way) throws {
    let bench = try ShadowBench(kind, way)
    let context = try saved(bench)
    let shape = try first(context)
    try shape.setValue(Self.other.value, forKey: "bounds")
    #expect(try shape.value(forKey: "boundsAsString") == Self.other.text)
    #expect(try shape.value(forKey: "bounds") == Self.other.value)
    try context.save()
    #expect(try bench.stores.saved("Shape", "boundsAsString") == [Self.other.text])
  }

  @Test(
    arguments: ShadowBench.Way.allCases,
    [DerivedAttribute.ReadPolicy.onDemand, DerivedAttribute.ReadPolicy.preCalculated])
  func delayedTheShadowIsWrittenInWillSave(_ way: ShadowBench.Way, _ read: DerivedAttribute.ReadPolicy) throws {
    for kind in StoreKind.allCases {
      let bench = try ShadowBench(kind, way, read: read, write: .delayed)
      let context = try saved(bench)
      let shape = try first(context)
      try shape.setValue(Self.other.value, forKey: "bounds")
      #expect(try shape.value(forKey: "boundsAsString") == Self.rect.text)
      #expect(try shape.value(forKey: "bounds") == Self.other.value && shape.hasChanges)
      try context.save()
      #expect(try shape.value(forKey: "boundsAsString") == Self.other.text)
      #expect(try bench.stores.saved("Shape", "boundsAsString") == [Self.other.text])
      #expect(!context.hasChanges)
    }
  }

  @Test(
    arguments: ShadowBench.Way.allCases, [DerivedAttribute.WritePolicy.immediate, DerivedAttribute.WritePolicy.delayed])
  func aNewObjectIsSavedWithWhatItsTransientAttributeSays(
    _ way: ShadowBench.Way, _ write: DerivedAttribute.WritePolicy
  ) throws {
    for kind in StoreKind.allCases {
      let bench = try ShadowBench(kind, way, write: write)
      let context = bench.context()
      try context.insert("Shape", values: ["bounds": Self.rect.value])
      try context.save()
      #expect(try bench.stores.saved("Shape", "boundsAsString") == [Self.rect.text])
    }
  }

  @Test(
    arguments: ShadowBench.Way.allCases, [DerivedAttribute.WritePolicy.immediate, DerivedAttribute.WritePolicy.delayed])
  func noValueIsWrittenThroughToo(_ way: ShadowBench.Way, _ write: DerivedAttribute.WritePolicy) throws {
    for kind in StoreKind.allCases {
      let bench = try ShadowBench(kind, way, write: write)
      let context = try saved(bench)
      let shape = try first(context)
      try shape.setValue(.null, forKey: "bounds")
      try context.save()
      #expect(try bench.stores.saved("Shape", "boundsAsString") == [.null])
      #expect(try shape.value(forKey: "bounds") == .null)
    }
  }

  // MARK: Caches

  @Test(arguments: StoreKind.allCases, ShadowBench.Way.allCases)
  func aFaultForgetsTheValueAndTheNextRowHasTheNewOne(_ kind: StoreKind, _ way: ShadowBench.Way) throws {
    let bench = try ShadowBench(kind, way)
    let context = try saved(bench)
    let shape = try first(context)
    #expect(try shape.value(forKey: "bounds") == Self.rect.value)
    let elsewhere = bench.context()
    try first(elsewhere).setValue(Self.other.text, forKey: "boundsAsString")
    try elsewhere.save()
    #expect(try shape.value(forKey: "bounds") == Self.rect.value)
    try context.refresh(shape, mergeChanges: false)
    #expect(try shape.value(forKey: "bounds") == Self.other.value)
  }

  @Test(
    arguments: ShadowBench.Way.allCases, [DerivedAttribute.WritePolicy.immediate, DerivedAttribute.WritePolicy.delayed])
  func aRollbackGivesBothUp(_ way: ShadowBench.Way, _ write: DerivedAttribute.WritePolicy) throws {
    for kind in StoreKind.allCases {
      let bench = try ShadowBench(kind, way, write: write)
      let context = try saved(bench)
      let shape = try first(context)
      try shape.setValue(Self.other.value, forKey: "bounds")
      try context.rollback()
      #expect(try shape.value(forKey: "bounds") == Self.rect.value)
      #expect(try shape.value(forKey: "boundsAsString") == Self.rect.text && !context.hasChanges)
      try shape.setValue("b", forKey: "name")
      try context.save()
      #expect(try bench.stores.saved("Shape", "boundsAsString") == [Self.rect.text])
    }
  }

  // MARK: Optionality

  /// From the guide: rules run before `willSave`, so a shadow attribute that only `willSave` writes must be optional.
  @Test(arguments: StoreKind.allCases, ShadowBench.Way.allCases)
  func aRequiredShadowThatIsWrittenLateFailsTheFirstSaveAndSaysWhy(_ kind: StoreKind, _ way: ShadowBench.Way) throws {
    let bench = try ShadowBench(kind, way, write: .delayed, isShadowRequired: true)
    let context = bench.context()
    let shape = try context.insert("Shape", values: ["bounds": Self.rect.value])
    #expect {
      try context.save()
    } throws: {
      let error = $0 as? GraphError
      return error?.code == .missingMandatoryProperty && error?.property == "boundsAsString"
        && error?.message.contains("comes only") == true && error?.message.contains("make it optional") == true
    }
    #expect(try shape.value(forKey: "bounds") == Self.rect.value)
    context.saveOrder = .willSaveFirst
    try context.save()
    #expect(try bench.stores.saved("Shape", "boundsAsString") == [Self.rect.text])
  }

  /// The guide's advice: the transient attribute is required, its shadow is not.
  @Test(arguments: StoreKind.allCases, ShadowBench.Way.allCases)
  func aRequiredAttributeMayHaveAnOptionalShadow(_ kind: StoreKind, _ way: ShadowBench.Way) throws {
    let bench = try ShadowBench(kind, way, write: .delayed, isRequired: true)
    let context = bench.context()
    let shape = try context.insert("Shape")
    #expect {
      try context.save()
    } throws: {
      let error = $0 as? GraphError
      return error?.code == .missingMandatoryProperty && error?.property == "bounds"
    }
    try shape.setValue(Self.rect.value, forKey: "bounds")
    try context.save()
    #expect(try bench.stores.saved("Shape", "boundsAsString") == [Self.rect.text])
    let other = bench.context()
    let again = try first(other)
    try again.setValue("b", forKey: "name")
    try other.save()
  }

  // MARK: Structures kept outside of the graph

  /// The guide's scalar: an instance variable is the cache, and `didTurnIntoFault` clears it.
  final class Plain: ManagedObject {
    private var rect: Rect?

    override class var overriddenLifecycleMethods: LifecycleHooks { [.didTurnIntoFault] }

    func bounds() throws -> Rect? {
      try willAccessValue(forKey: "bounds")
      if rect == nil { rect = Rect(text: try value(forKey: "boundsAsString")) }
      try didAccessValue(forKey: "bounds")
      return rect
    }

    func setBounds(_ new: Rect?) throws {
      try willChangeValue(forKey: "bounds")
      rect = new
      try didChangeValue(forKey: "bounds")
      try setValue(new?.text ?? .null, forKey: "boundsAsString")
    }

    override func didTurnIntoFault() throws { rect = nil }
  }

  @Test(arguments: StoreKind.allCases) func aStructureMayBeCachedInTheObjectItself(_ kind: StoreKind) throws {
    let bench = try ShadowBench(kind, .subclass)
    bench.stores.coordinator.register(Plain.self, forClassName: "Shape")
    let context = bench.context()
    let shape = try #require(try context.insert("Shape") as? Plain)
    try shape.setBounds(Self.rect)
    try context.save()
    let elsewhere = bench.context()
    let same = try #require(try first(elsewhere) as? Plain)
    #expect(try same.bounds() == Self.rect)
    try same.setBounds(Self.other)
    try elsewhere.save()
    #expect(try shape.bounds() == Self.rect)
    try context.refresh(shape, mergeChanges: false)
    #expect(try shape.bounds() == Self.other && !context.hasChanges)
  }

  // MARK: A colour

  @Test(arguments: StoreKind.allCases) func aColourOverTextIsCheckedForItsClass(_ kind: StoreKind) throws {
    var model = People.model()
    model.entities[0].attributes.append(AttributeDescription("paint", type: .undefined).with { $0.isTransient = true })
    model.entities[0].attributes.append(AttributeDescription("paintText", type: .string))
    let bench = try StoreBench(kind, model)
    let domain = ExtensionRegistry()
    domain.valueClasses["Color"] = ValueClass("Color") { value in
      guard case .map(let parts) = value else { return false }
      return Set(parts.keys) == ["r", "g", "b"]
    }
    domain.attributeValueClasses["Person"] = ["paint": "Color"]
    var entry = EntityExtension()
    entry.derived = [
      DerivedAttribute(
        "paint", ownInputs: ["paintText"], shadow: "paintText", writePolicy: .delayed,
        get: { person in
          guard case .string(let text) = try person.value(forKey: "paintText") else { return .null }
          let parts = text.split(separator: " ").compactMap { Int64($0) }.map(Value.int)
          return ["r": parts[0], "g": parts[1], "b": parts[2]]
        },
        set: { value, person in
          guard case .map(let parts) = value else { return try person.setValue(.null, forKey: "paintText") }
          let numbers = ["r", "g", "b"].map { if case .int(let number)? = parts[$0] { "\(number)" } else { "0" } }
          try person.setValue(.string(numbers.joined(separator: " ")), forKey: "paintText")
        })
    ]
    domain.extensions["Person"] = [entry]
    let context = ManagedObjectContext(bench.coordinator, extensionRegistry: domain)
    let person = try context.insert("Person", values: ["paint": ["r": 1, "g": 2, "b": 3]])
    #expect {
      try person.setValue(["r": 1], forKey: "paint")
    } throws: {
      let error = $0 as? GraphError
      return error?.code == .invalidValue && error?.property == "paint"
        && error?.message.contains("class Color") == true
    }
    try context.save()
    #expect(try bench.saved("Person", "paintText") == ["1 2 3"])
    try context.refresh(person, mergeChanges: false)
    #expect(try person.value(forKey: "paint") == ["r": 1, "g": 2, "b": 3])
  }
}
