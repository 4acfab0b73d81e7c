import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph
@testable import MoonbaseStore

/// New objects write their values into rows that a save uses directly.
@Suite struct NewRowTests {
  /// An entity with a property of each kind that a row can hold, and some that no row can.
  static func model() -> ManagedObjectModel {
    var kind = AttributeDescription("kind", type: .string)
    kind.defaultValue = "plain"
    var note = AttributeDescription("note", type: .string)
    note.isTransient = true
    note.defaultValue = "none"
    return ManagedObjectModel {
      EntityDescription("Thing") {
        AttributeDescription("text", type: .string)
        AttributeDescription("bytes", type: .binaryData)
        AttributeDescription("number", type: .integer64)
        AttributeDescription("height", type: .double)
        AttributeDescription("flag", type: .boolean)
        AttributeDescription("day", type: .date)
        AttributeDescription("uuid", type: .uuid)
        AttributeDescription("price", type: .decimal)
        AttributeDescription("place", type: .uri)
        kind
        note
        RelationshipDescription.toOne("next", destination: "Thing", inverse: "former")
        RelationshipDescription.toMany("former", destination: "Thing", inverse: "next")
      }
    }
  }

  static let keys = [
    "text", "bytes", "number", "height", "flag", "day", "uuid", "price", "place", "kind", "note",
  ]

  static func value(_ key: String, _ random: inout SplitMix) -> Value {
    let number = Int(random.next() % 1000)
    if number < 100 { return .null }
    // Some texts are too long to be stored in the row.
    let length = number < 150 ? 5000 : number % 40
    switch key {
    case "bytes": return .data(Data(repeating: UInt8(number % 256), count: length))
    case "number": return .int(Int64(number))
    case "height": return .double(Double(number) / 7)
    case "flag": return .bool(number % 2 == 0)
    case "day": return .date(Date(timeIntervalSinceReferenceDate: Double(number)))
    case "uuid": return .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number % 256))))
    case "price": return .decimal(Decimal(number) / 100)
    case "place": return .uri(URL(fileURLWithPath: "/\(number)"))
    default: return .string(String(repeating: "é", count: length) + "\(number)")
    }
  }

  private func page(_ object: ManagedObject) throws -> RowPage { try #require(object.page) }

  @Test(arguments: StoreKind.allCases)
  func aSaveTakesTheRowsAsTheyAre(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model())
    let context = bench.context()
    let things = try (0..<20).map {
      try context.insert("Thing", values: ["number": .int(Int64($0)), "text": .string("t\($0)")])
    }
    let places = try things.map { (page: try page($0), place: $0.row.place) }
    #expect(
      places.allSatisfy { $0.page.stage == .filling }
        && things.allSatisfy { $0.row.live.compactMap(\.self) == ["none"] })
    try context.save()
    for (thing, former) in zip(things, places) {
      #expect(thing.page === former.page && thing.row.place == former.place && former.page.stage == .sealed)
      #expect(thing.snapshot?.id == thing.objectID && thing.snapshot?.version == 1)
    }
    #expect(try bench.saved("Thing", "text") == (0..<20).map { .string("t\($0)") }.sorted { "\($0)" < "\($1)" })
    #expect(try bench.saved("Thing", "kind") == Array(repeating: "plain", count: 20))
    #expect(context.brokenInvariants() == [])
  }

  /// Sets a value from its memory without making a `Value`, as scripts do. False if a `Value` is required.
  static func setCell(_ value: Value, of object: ManagedObject, slot: Slot) -> Bool {
    switch value {
    case .string(var text):
      text.withUTF8 { object.setFast(RawCell(.text, bytes: UnsafeRawBufferPointer($0)), slot: slot) }
    case .data(let data): data.withUnsafeBytes { object.setFast(RawCell(.data, bytes: $0), slot: slot) }
    default: object.setFast(RawCell(of: value), slot: slot)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func whatIsSetAsACellIsWhatIsSetAsAValue(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model())
    let context = bench.context()
    let (one, other) = (try context.insert("Thing"), try context.insert("Thing"))
    var random = SplitMix(5)
    var count = 0
    for _ in 0..<500 {
      let key = Self.keys[Int(random.next() % UInt64(Self.keys.count))]
      let value = Self.value(key, &random)
      try one.setValue(value, forKey: key)
      let slot = try other.slot(of: key)
      if Self.setCell(value, of: other, slot: slot) { count += 1 } else { try other.setValue(value, forKey: key) }
      #expect(other[key].isSame(as: one[key]) && other[key].isSame(as: value))
    }
    #expect(count > 0)
    #expect(context.brokenInvariants() == [])
    try context.save()
    for key in Self.keys where key != "note" {
      let saved = try bench.saved("Thing", key)
      #expect(saved.count == 2 && saved.first == saved.last, "\(key)")
    }
  }

  /// Values that do not fit are left to the setter, which refuses or converts them.
  @Test func cellsThatDoNotFitAreNotSet() throws {
    let context = try StoreBench(.memory, Self.model()).context()
    let thing = try context.insert("Thing")
    func isSet(_ cell: RawCell, _ key: String) throws -> Bool { thing.setFast(cell, slot: try thing.slot(of: key)) }
    let before = try thing.changedValues()
    #expect(try !isSet(RawCell(.double, word: Double.nan.bitPattern), "height"))
    #expect(try !isSet(RawCell(.int, word: 1), "height"))
    #expect(try !isSet(RawCell(.int, word: 1), "text"))
    #expect(try !isSet(RawCell(.double, word: Double.infinity.bitPattern), "day"))
    #expect(try !isSet(RawCell(.null), "next") && !isSet(RawCell(.null), "former"))
    #expect(try thing.changedValues() == before)
    #expect(try isSet(RawCell(.int, word: 1), "number") && isSet(RawCell(.int, word: 2), "number"))
    #expect(thing["number"] == 2)
    try context.save()
    #expect(try isSet(RawCell(.int, word: 3), "number") && thing["number"] == 3 && thing.isUpdated)
    #expect(try !isSet(RawCell(.double, word: 1), "text") && !isSet(RawCell(.null), "next"))
    try context.delete(thing)
    #expect(try !isSet(RawCell(.int, word: 4), "number"))
  }

  /// Another thread or the store may have the page: assignments after the save do not change it.
  @Test(arguments: StoreKind.allCases)
  func thePageOfAFailedSaveStaysAsItIs(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind, Self.model())
    let context = bench.context()
    let (one, other) = (try context.insert("Thing", values: ["text": "one"]), try context.insert("Thing"))
    try one.setObject(other, forKey: "next")
    try other.setObject(one, forKey: "next")
    let (page, place) = (try page(one), Int(one.row.place))
    store.fail(atCommit: true)
    #expect(throws: GraphError.self) { try context.save() }
    #expect(page.stage == .sealed && one.page === page && one.isInserted && one.objectID.isTemporaryID)
    let slot = try #require(one.entity.slot("text"))
    try one.setValue("another", forKey: "text")
    #expect(page.value(slot, of: place) == "one" && one["text"] == "another")
    #expect(try one.object(forKey: "next") === other && context.brokenInvariants() == [])
    let late = try context.insert("Thing", values: ["text": "late"])
    #expect(try self.page(late) !== page)
    store.fail(atCommit: false)
    try context.save()
    #expect(one.page !== page && context.brokenInvariants() == [])
    #expect(try bench.saved("Thing", "text") == [.null, "another", "late"])
    #expect(try one.object(forKey: "next") === other && other.object(forKey: "next") === one)
    #expect(try one.committedValues()["next"] == .objectID(other.objectID))
  }

  /// Text in use stays in place, whatever its object does meanwhile.
  @Test func whatIsLookedAtStays() throws {
    let context = try StoreBench(.memory, Self.model()).context()
    let thing = try context.insert("Thing", values: ["text": "looked at"])
    let text = Attribute<ManagedObject, String>("text")
    let seen = try thing.withText(text) { bytes in
      for index in 0..<100 { thing[text] = String(repeating: "x", count: 100 * index) }
      for _ in 0..<100 { try context.insert("Thing", values: ["text": .string(String(repeating: "y", count: 1000))]) }
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(seen == "looked at" && thing[text].count == 9900)
  }

  /// Setting a value repeatedly does not accumulate former values.
  @Test(arguments: ["text", "bytes", "price", "uuid"])
  func whatIsSetAgainTakesNoRoom(_ key: String) throws {
    let context = try StoreBench(.memory, Self.model()).context()
    var random = SplitMix(1)
    let thing = try context.insert("Thing")
    for _ in 0..<5000 {
      try thing.setValue(Self.value(key, &random), forKey: key)
      try thing.setValue(.null, forKey: key)
    }
    let page = try page(thing)
    #expect(page.tailRoom < 20_000 && page.apart.count < 100)
  }

  /// A context, and the weight of its objects that it has reported.
  static func weighing(_ bench: StoreBench) -> (context: ManagedObjectContext, told: () -> Int) {
    let domain = ExtensionRegistry()
    let held = Lock(0)
    domain.weigh = { bytes in held.withLock { $0 += bytes } }
    let context = ManagedObjectContext(bench.coordinator, extensionRegistry: domain)
    return (
      context,
      {
        context.tellWeight()
        return held.withLock { $0 }
      }
    )
  }

  @Test(arguments: StoreKind.allCases)
  func objectsWeighWhatTheirRowsKeep(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model())
    let (context, told) = Self.weighing(bench)
    func expected() -> Int { context.registeredObjects.reduce(0) { $0 + $1.weight } }
    var random = SplitMix(7)
    for round in 0..<4 {
      let things = try (0..<30).map { _ in try context.insert("Thing") }
      for _ in 0..<300 {
        let key = try #require(Self.keys.randomElement(using: &random))
        let thing = try #require(things.randomElement(using: &random))
        try thing.setValue(Self.value(key, &random), forKey: key)
      }
      #expect(told() == expected())
      #expect(things.reduce(0) { $0 + $1.weight } > 30 * ManagedObject.ownWeight + 30 * 5 * 17)
      if round % 2 == 0 { try context.save() } else { try context.rollback() }
      #expect(told() == expected())
    }
  }

  /// The last objects of a page do not keep the other objects' values alive.
  @Test func aFewOfManyMoveToAPageOfTheirOwn() throws {
    let context = try StoreBench(.memory, Self.model()).context()
    var kept: [ManagedObject] = []
    for index in 0..<5000 {
      let thing = try context.insert(
        "Thing", values: ["number": .int(Int64(index)), "text": .string("thing \(index)")])
      if index % 500 == 0 { kept.append(thing) } else { try context.delete(thing) }
      try context.processPendingChanges()
    }
    let pages = Set(try kept.map { ObjectIdentifier(try page($0)) })
    #expect(pages.count <= 4)
    #expect(kept.map { $0["number"] } == (0..<10).map { .int(500 * $0) } && kept[3]["text"] == "thing 1500")
    #expect(context.brokenInvariants() == [])
    try context.save()
    #expect(kept.map { $0["number"] } == (0..<10).map { .int(500 * $0) })
  }

  /// The values of one object by key, and the destination of `next`.
  private struct Reference: Equatable {
    var values: [String: Value]
    var next: Int?
  }

  /// New objects are set, related, deleted, undone, saved with and without success, and discarded; dictionaries are the
  /// reference.
  @Test(arguments: StoreKind.allCases, 1...Repetition.newRowSeeds.count)
  func newObjectsAgreeWithTheNaiveModelAtRandom(_ kind: StoreKind, _ seed: Int) throws {
    var random = SplitMix(UInt64(seed))
    let (bench, store) = try StoreBench.failing(kind, Self.model())
    let context = bench.context()
    var initial = Dictionary(uniqueKeysWithValues: Self.keys.map { ($0, Value.null) })
    (initial["kind"], initial["note"]) = ("plain", "none")
    var world: [Int: Reference] = [:]
    var objects: [Int: ManagedObject] = [:]
    var (savedWorld, savedObjects) = (world, objects)
    var last = 0

    func change() throws {
      let number = objects.keys.sorted().randomElement(using: &random)
      guard let number, random.next() % 5 > 0 else {
        last += 1
        objects[last] = try context.insert("Thing")
        world[last] = Reference(values: initial, next: nil)
        return
      }
      let object = try #require(objects[number])
      switch random.next() % 12 {
      case 0:
        try context.delete(object)
        if random.next() % 2 == 0 { try context.processPendingChanges() }
        objects[number] = nil
        world[number] = nil
        for (other, reference) in world where reference.next == number { world[other]?.next = nil }
      case 1, 2:
        let next = random.next() % 4 == 0 ? nil : objects.keys.sorted().randomElement(using: &random)
        try object.setObject(next.flatMap { objects[$0] }, forKey: "next")
        world[number]?.next = next
      default:
        let key = try #require(Self.keys.randomElement(using: &random))
        let value = Self.value(key, &random)
        try object.setValue(value, forKey: key)
        world[number]?.values[key] = value
      }
    }

    func expectSame(_ comment: Comment) throws {
      try context.processPendingChanges()
      #expect(context.brokenInvariants() == [], comment)
      for (number, object) in objects {
        let reference = try #require(world[number])
        for (key, value) in reference.values { #expect(try object.value(forKey: key) == value, "\(comment): \(key)") }
        #expect(try object.object(forKey: "next") === reference.next.flatMap { objects[$0] }, comment)
      }
    }

    for step in 0..<150 {
      switch random.next() % 20 {
      case 0:
        try context.save()
        (savedWorld, savedObjects) = (world, objects)
      case 1:
        store.fail(atCommit: true)
        if context.hasChanges { #expect(throws: GraphError.self) { try context.save() } }
        store.fail(atCommit: false)
      case 2:
        try context.rollback()
        (world, objects) = (savedWorld, savedObjects)
        // Transient values are discarded with the others, and return to the default where the object was changed.
        for (number, object) in objects { world[number]?.values["note"] = try object.value(forKey: "note") }
      case 3, 4:
        let (formerWorld, formerObjects) = (world, objects)
        #expect(throws: Broken.self) {
          try context.undoingOnFailure {
            for _ in 0..<6 { try change() }
            throw Broken()
          }
        }
        (world, objects) = (formerWorld, formerObjects)
      default: try change()
      }
      try expectSame("seed \(seed), step \(step)")
    }
    try context.save()
    try expectSame("seed \(seed), saved")
    let fresh = bench.stranger()
    let found = try fresh.fetch(FetchRequest("Thing"))
    #expect(found.count == objects.count)
    for (number, object) in objects {
      let other = try fresh.object(with: object.objectID)
      for (key, value) in try #require(world[number]).values where key != "note" {
        #expect(try other.value(forKey: key) == value, "seed \(seed): \(key)")
      }
      let next = try #require(world[number]).next.flatMap { objects[$0]?.objectID }
      #expect(try other.object(forKey: "next")?.objectID == next)
    }
  }
}
