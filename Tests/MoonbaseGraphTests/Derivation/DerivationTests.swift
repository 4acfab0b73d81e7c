import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Derived values are computed only when an input of their getter changed.
@Suite struct DerivationTests {
  /// The number of runs of each getter.
  private final class Counts { var counts: [String: Int] = [:] }

  /// A company whose getters are counted. No getter declares its inputs.
  private struct Bench {
    let bench: StoreBench
    let context: ManagedObjectContext
    private let counts = Counts()

    init(_ kind: StoreKind, _ derived: [String: [(name: String, get: (ManagedObject) throws -> Value)]]) throws {
      var model = People.model()
      for (entity, attributes) in derived {
        let index = try #require(model.entities.firstIndex { $0.name == entity })
        for attribute in attributes {
          var transient = AttributeDescription(attribute.name, type: .undefined)
          transient.isTransient = true
          model.entities[index].attributes.append(transient)
        }
      }
      bench = try StoreBench(kind, model)
      let counts = counts
      context = bench.context(
        derived.mapValues { attributes in
          var entry = EntityExtension()
          entry.derived = attributes.map { attribute in
            DerivedAttribute(attribute.name) { object in
              counts.counts[attribute.name, default: 0] += 1
              return try attribute.get(object)
            }
          }
          return [entry]
        })
    }

    /// The runs of a getter since the last call.
    func runs(_ name: String) -> Int { counts.counts.removeValue(forKey: name) ?? 0 }
  }

  private static func text(_ object: ManagedObject?, _ key: String) throws -> String {
    try object?.value(forKey: key).text ?? "-"
  }

  private static func badge(_ person: ManagedObject) throws -> Value {
    .string("\(try text(person, "firstName")) of \(try text(person.object(forKey: "department"), "name"))")
  }

  private static func roll(_ department: ManagedObject) throws -> Value {
    .string(try department.objects(forKey: "employees").map { try text($0, "badge") }.sorted().joined(separator: ", "))
  }

  @Test(arguments: StoreKind.allCases) func aGetterRunsAgainWhenWhatItReadIsAnotherValue(_ kind: StoreKind) throws {
    let bench = try Bench(kind, ["Person": [("badge", Self.badge)]])
    let shop = try bench.context.insert("Department", values: ["name": "shop"])
    let person = try bench.context.insert(
      "Person", values: ["firstName": "Ann", "department": .objectID(shop.objectID)])
    func expect(_ badge: Value, after runs: Int, _ location: Testing.SourceLocation = #_sourceLocation) {
      for _ in 0..<3 { #expect(person["badge"] == badge, sourceLocation: location) }
      #expect(bench.runs("badge") == runs, sourceLocation: location)
      #expect(bench.context.brokenInvariants() == [], sourceLocation: location)
    }
    expect("Ann of shop", after: 1)
    person["age"] = 30
    shop["employees"] = .list([.objectID(person.objectID)])
    expect("Ann of shop", after: 0)
    person["firstName"] = "Bea"
    expect("Bea of shop", after: 1)
    shop["name"] = "store"
    expect("Bea of store", after: 1)
    try shop.setPrimitiveValue("depot", forKey: "name")
    expect("Bea of depot", after: 1)
    try person.setObject(nil, forKey: "department")
    expect("Bea of -", after: 1)
    shop["name"] = "yard"
    expect("Bea of -", after: 0)
    try bench.context.save()
    // The object got its permanent ID, which a getter may have read.
    expect("Bea of -", after: 1)
    try bench.context.insert("Person")
    person["age"] = 31
    try bench.context.save()
    expect("Bea of -", after: 0)
  }

  /// The inputs are declared, and none is recorded during the computation.
  @Test(arguments: StoreKind.allCases) func aValueWhoseInputChangesWhileItIsComputedIsNotKept(_ kind: StoreKind) throws
  {
    let bench = try StoreBench(kind)
    let runs = Switch()
    let context = bench.context(extending: "Person") { entry in
      entry.derived = [
        DerivedAttribute("fullName", ownInputs: ["firstName"]) { person in
          let name = try person.value(forKey: "firstName")
          runs.value += 1
          if runs.value == 1 { try person.setValue("Bea", forKey: "firstName") }
          return name
        }
      ]
    }
    let person = try context.insert("Person", values: ["firstName": "Ann"])
    #expect(try person.value(forKey: "fullName") == "Ann")
    #expect(try person.value(forKey: "fullName") == "Bea")
    #expect(try person.value(forKey: "fullName") == "Bea")
    #expect(runs.value == 2)
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func aGetterFollowsAListAndWhatIsDerivedInItsMembers(_ kind: StoreKind) throws {
    let bench = try Bench(kind, ["Person": [("badge", Self.badge)], "Department": [("roll", Self.roll)]])
    let shop = try bench.context.insert("Department", values: ["name": "shop"])
    for name in ["Ann", "Bea"] {
      try bench.context.insert("Person", values: ["firstName": .string(name), "department": .objectID(shop.objectID)])
    }
    try bench.context.save()
    let ids = try shop.objectIDs(forRelationshipNamed: "employees")
    func expect(_ roll: Value, after runs: Int, _ location: Testing.SourceLocation = #_sourceLocation) {
      for _ in 0..<3 { #expect(shop["roll"] == roll, sourceLocation: location) }
      #expect(bench.runs("roll") == runs, sourceLocation: location)
    }
    expect("Ann of shop, Bea of shop", after: 1)
    // The members are not retained: they are released and read again with the values before the change.
    try bench.context.object(with: ids[0]).setValue(8, forKey: "age")
    expect("Ann of shop, Bea of shop", after: 0)
    let members = try bench.context.objects(with: ids).sorted {
      $0["firstName"].text ?? "" < $1["firstName"].text ?? ""
    }
    members[0]["firstName"] = "Eve"
    expect("Bea of shop, Eve of shop", after: 1)
    shop["name"] = "store"
    expect("Bea of store, Eve of store", after: 1)
    try bench.context.delete(members[0])
    try bench.context.processPendingChanges()
    expect("Bea of store", after: 1)
    try bench.context.rollback()
    expect("Ann of shop, Bea of shop", after: 1)
  }

  @Test(arguments: StoreKind.allCases) func aGetterThatFetchesRunsAfterEachChange(_ kind: StoreKind) throws {
    let bench = try Bench(
      kind,
      [
        "Person": [
          ("others", { person in .int(Int64(try person.managedObjectContext?.count(FetchRequest("Person")) ?? 0)) }),
          ("doubled", { person in .list([try person.value(forKey: "others")]) }),
        ]
      ])
    let person = try bench.context.insert("Person")
    for _ in 0..<3 { #expect(person["doubled"] == [1]) }
    #expect(bench.runs("others") == 1 && bench.runs("doubled") == 1)
    try bench.context.insert("Person")
    #expect(person["doubled"] == [2] && bench.runs("doubled") == 1)
  }

  /// An input may change while a getter runs: neither its value nor values computed from it are kept.
  @Test(arguments: StoreKind.allCases, [false, true])
  func whatNeedsAValueThatChangedWhileItWasComputedIsNotKept(_ kind: StoreKind, fetches: Bool) throws {
    let bench = try Bench(
      kind,
      [
        "Person": [
          (
            "ticket",
            { person in
              let count = try fetches ? person.managedObjectContext?.count(FetchRequest("Person")) : nil
              let age = try fetches ? Int64(count ?? 0) : person.value(forKey: "age").int ?? 0
              let last = try person.primitiveValue(forKey: fetches ? "boundsAsString" : "age")
              try person.setPrimitiveValue(
                fetches ? .string((last.string ?? "") + "i") : .int(age + 1), forKey: fetches ? "boundsAsString" : "age"
              )
              return .int(age)
            }
          ), ("label", { .string("<\(try Self.text($0, "ticket"))>") }),
          ("sign", { .string("\(try Self.text($0, "label"))!") }),
        ]
      ])
    let person = try bench.context.insert("Person")
    for number in 1...3 {
      if fetches { try bench.context.insert("Person") }
      let sign = person["sign"].string ?? ""
      #expect(sign == (fetches ? "<\(number + 1)>!" : "<\(number - 1)>!"))
    }
    #expect(bench.context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func whoCatchesAnErrorFollowsWhatTheFailedGetterRead(_ kind: StoreKind) throws {
    let bench = try Bench(
      kind,
      [
        "Person": [
          (
            "strict",
            { person in
              let name = try Self.text(person.object(forKey: "department"), "name")
              guard name != "-" else { throw Broken() }
              return .string(name)
            }
          ), ("lenient", { person in (try? person.value(forKey: "strict")) ?? "none" }),
        ]
      ])
    let shop = try bench.context.insert("Department")
    let person = try bench.context.insert("Person", values: ["department": .objectID(shop.objectID)])
    for _ in 0..<3 { #expect(person["lenient"] == "none") }
    #expect(bench.runs("lenient") == 1)
    shop["name"] = "shop"
    #expect(person["lenient"] == "shop" && bench.runs("lenient") == 1)
  }

  /// A getter may read the ID of a new object; no attribute has that ID.
  @Test(arguments: StoreKind.allCases) func whatWasComputedFromTemporaryIDsIsComputedAnew(_ kind: StoreKind) throws {
    let bench = try Bench(
      kind,
      [
        "Person": [
          ("place", { person in .string(try person.object(forKey: "department")?.objectID.uriRepresentation ?? "") })
        ],
        "Department": [
          (
            "places",
            { .list(try $0.objects(forKey: "employees").map { .string($0.objectID.uriRepresentation) }) }
          ), ("isNew", { .bool($0.isInserted) }),
        ],
      ])
    let person = try bench.context.insert("Person")
    let old = try bench.context.insert("Department")
    #expect(old["isNew"] == true)
    try bench.context.save()
    #expect(old["isNew"] == false)
    let shop = try bench.context.insert("Department")
    try person.setObject(shop, forKey: "department")
    let other = try bench.context.insert("Person", values: ["department": .objectID(old.objectID)])
    _ = (person["place"], old["places"])
    try bench.context.save()
    #expect(person["place"] == .string(shop.objectID.uriRepresentation))
    #expect(old["places"] == [.string(other.objectID.uriRepresentation)])
  }

  /// The thousands of reads of one getter are not recorded individually.
  @Test(arguments: StoreKind.allCases) func aGetterThatReadsThousandsOfObjectsFollowsThemAll(_ kind: StoreKind) throws {
    let bench = try Bench(
      kind,
      [
        "Department": [
          (
            "ages",
            { department in
              let ages = try department.objects(forKey: "employees").map { try $0.value(forKey: "age") }
              return .int(ages.reduce(0) { if case .int(let age) = $1 { $0 + age } else { $0 } })
            }
          )
        ]
      ])
    let shop = try bench.context.insert("Department")
    for _ in 0..<3000 {
      try bench.context.insert("Person", values: ["age": 1, "department": .objectID(shop.objectID)])
    }
    try bench.context.save()
    #expect(shop["ages"] == 3000)
    let id = try shop.objectIDs(forRelationshipNamed: "employees")[2000]
    let person = try bench.context.object(with: id)
    person["firstName"] = "Ann"
    #expect(shop["ages"] == 3000 && bench.runs("ages") == 1)
    person["age"] = 2
    #expect(shop["ages"] == 3001 && bench.runs("ages") == 1)
    try bench.context.delete(person)
    #expect(shop["ages"] == 3001 || shop["ages"] == 2999)
    try bench.context.save()
    #expect(shop["ages"] == 2999)
  }

  /// Records of released values are removed, and the context's weight follows.
  @Test func notesOfValuesThatAreGoneAreSweptOut() throws {
    let bench = try Bench(.memory, ["Person": [("badge", Self.badge)]])
    var told = 0
    bench.context.extensionRegistry.weigh = { told += $0 }
    for number in 0..<20000 {
      let shop = try bench.context.insert("Department", values: ["name": .string("shop \(number)")])
      try bench.context.insert("Person", values: ["department": .objectID(shop.objectID)])
    }
    try bench.context.save()
    let before = told
    let ids = try bench.context.fetchIDs(FetchRequest("Person"))
    for id in ids { #expect(try bench.context.object(with: id).value(forKey: "badge") != .null) }
    #expect(told < before + 1_000_000, "\(told - before)")
    let held = try bench.context.objects(with: ids)
    let objects = told
    for person in held { _ = try person.value(forKey: "badge") }
    #expect(told > objects + 20000 * 80, "\(told - objects)")
    #expect(bench.context.brokenInvariants() == [])
  }

  private static func stored(
    _ kind: StoreKind, inputs: [String]?, _ counts: Counts
  ) throws -> (StoreBench, ManagedObjectContext) {
    var model = People.model()
    let index = try #require(model.entities.firstIndex { $0.name == "Department" })
    model.entities[index].attributes.append(AttributeDescription("roll", type: .string))
    let bench = try StoreBench(kind, model)
    let context = bench.context(extending: "Department") { entry in
      entry.stored = [
        DerivedAttribute("roll", inputs: inputs) { department in
          counts.counts["roll", default: 0] += 1
          let names = try department.objects(forKey: "employees").map { try text($0, "firstName") }
          return .string(names.sorted().joined(separator: ","))
        }
      ]
    }
    return (bench, context)
  }

  @Test(arguments: StoreKind.allCases, [nil, ["employees.firstName"]])
  func aStoredValueIsComputedAtASaveThatChangesWhatItReadAndAtNoOther(_ kind: StoreKind, _ inputs: [String]?) throws {
    let counts = Counts()
    let (bench, context) = try Self.stored(kind, inputs: inputs, counts)
    let shop = try context.insert("Department", values: ["name": "shop"])
    let person = try context.insert("Person", values: ["firstName": "Ann", "department": .objectID(shop.objectID)])
    func save(_ roll: Value, after runs: Int, _ location: Testing.SourceLocation = #_sourceLocation) throws {
      counts.counts = [:]
      try context.save()
      #expect(try bench.saved("Department", "roll") == [roll], sourceLocation: location)
      #expect(shop["roll"] == roll && counts.counts["roll", default: 0] == runs, sourceLocation: location)
    }
    try save("Ann", after: 1)
    person["firstName"] = "Bea"
    try save("Bea", after: 1)
    shop["name"] = "store"
    person["age"] = 7
    try save("Bea", after: 0)
    try shop.setPrimitiveValue("wrong", forKey: "roll")
    try save("Bea", after: 1)
    try context.insert("Person", values: ["firstName": "Eve", "department": .objectID(shop.objectID)])
    try save("Bea,Eve", after: 1)
    try context.delete(person)
    try save("Eve", after: 1)
  }
}
