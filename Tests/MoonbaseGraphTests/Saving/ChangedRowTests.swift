import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph
@testable import MoonbaseStore

/// The first change of a saved object gives it a row of its own over the store's row, and a save writes the own row
/// directly.
@Suite struct ChangedRowTests {
  /// A context with saved things, numbered from 0, that are loaded but unchanged.
  private func things(
    _ bench: StoreBench, count: Int = 20
  ) throws -> (context: ManagedObjectContext, things: [ManagedObject]) {
    let writer = bench.context()
    for number in 0..<count {
      try writer.insert(
        "Thing", values: ["number": .int(Int64(number)), "text": .string("t\(number)"), "kind": "saved"])
    }
    try writer.save()
    let context = bench.context()
    var request = FetchRequest("Thing")
    request.sortDescriptors = [SortDescriptor("number")]
    let things = try context.fetch(request)
    for thing in things { try thing.fireFault() }
    return (context, things)
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func aSaveTakesTheRowsAsTheyAre(_ kind: StoreKind, _ asCells: Bool) throws {
    let bench = try StoreBench(kind, NewRowTests.model())
    let (context, things) = try things(bench)
    let below = try things.map { try #require($0.snapshot) }
    let text = try things[0].slot(of: "text")
    for (number, thing) in things.enumerated() {
      let value = Value.string("changed \(number)")
      if asCells {
        #expect(NewRowTests.setCell(value, of: thing, slot: text))
      } else {
        try thing.setValue(value, forKey: "text")
      }
    }
    for (thing, row) in zip(things, below) {
      #expect(thing.row.isOwn && thing.row.live.isEmpty && thing.snapshot?.isIdentical(to: row) == true)
      #expect(thing.isUpdated && thing["kind"] == "saved")
    }
    let places = try things.map { (page: try #require($0.page), place: $0.row.place) }
    #expect(try things[3].committedValues()["text"] == "t3" && things[3].changedValues() == ["text": "changed 3"])
    try context.save()
    for (thing, former) in zip(things, places) {
      #expect(thing.page === former.page && thing.row.place == former.place && former.page.stage == .sealed)
      #expect(!thing.row.isOwn && thing.snapshot?.version == 2 && former.page.bases == nil)
    }
    #expect(try bench.saved("Thing", "text") == (0..<20).map { .string("changed \($0)") }.sorted { "\($0)" < "\($1)" })
    #expect(try bench.saved("Thing", "kind") == Array(repeating: "saved", count: 20))
    #expect(context.brokenInvariants() == [])
  }

  /// Values of every kind in the row of a changed object, compared with a new object whose values are set one by one.
  @Test(arguments: StoreKind.allCases)
  func valuesAreThoseOfANewObject(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, NewRowTests.model())
    let (context, things) = try things(bench, count: 2)
    let new = try context.insert("Thing")
    var random = SplitMix(11)
    for round in 0..<40 {
      for _ in 0..<10 {
        let key = try #require(NewRowTests.keys.randomElement(using: &random))
        let value = NewRowTests.value(key, &random)
        try new.setValue(value, forKey: key)
        try things[0].setValue(value, forKey: key)
        let slot = try things[1].slot(of: key)
        if !NewRowTests.setCell(value, of: things[1], slot: slot) { try things[1].setValue(value, forKey: key) }
        for thing in things { #expect(thing[key].isSame(as: value), "round \(round): \(key)") }
      }
      #expect(context.brokenInvariants() == [])
      if round % 4 == 3 { try context.save() }
      if round % 8 == 7 { for thing in things { try context.refresh(thing, mergeChanges: false) } }
    }
    try context.save()
    for key in ["bytes", "height", "flag", "day", "uuid", "price", "place"] {
      let saved = try bench.saved("Thing", key)
      #expect(saved.count == 3 && saved.allSatisfy { $0.isSame(as: new[key]) }, "\(key)")
    }
  }

  /// Texts of a row are moved eight slots at a time; slots beyond the first 64 are tracked separately.
  @Test(arguments: [1, 8, 9, 16, 17, 64, 65, 66], [false, true])
  func eachTextStaysWhereAnotherOneChanges(_ count: Int, _ asCells: Bool) throws {
    var entity = EntityDescription("Thing")
    let names = (100..<100 + count).map { "a\($0)" }
    entity.attributes = names.map { AttributeDescription($0, type: .string) }
    let bench = try StoreBench(.memory, ManagedObjectModel(entities: [entity]))
    let writer = bench.context()
    let values = Dictionary(uniqueKeysWithValues: names.map { ($0, Value.string("text of \($0)")) })
    for _ in names { try writer.insert("Thing", values: values) }
    try writer.save()
    let context = bench.context()
    let things = try context.fetch(FetchRequest("Thing"))
    for thing in things { try thing.fireFault() }
    // In each thing another text is new.
    func expectOneChange(_ things: [ManagedObject]) {
      for (thing, changed) in zip(things, names) {
        let others = names.filter { name in thing[name] != (name == changed ? Value.string("new") : values[name]) }
        #expect(others.isEmpty, "\(changed) was changed")
      }
    }
    for (thing, name) in zip(things, names) {
      let slot = try thing.slot(of: name)
      if !asCells || !NewRowTests.setCell("new", of: thing, slot: slot) { try thing.setValue("new", forKey: name) }
    }
    expectOneChange(things)
    try context.save()
    expectOneChange(things)
    let reader = bench.context()
    expectOneChange(try things.map { try reader.object(with: $0.objectID) })
  }

  @Test(arguments: StoreKind.allCases)
  func whatIsUndoneLeavesTheRowOfTheStore(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, NewRowTests.model())
    let (context, things) = try things(bench)
    let row = try #require(things[0].snapshot)
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        try things[0].setValue("a", forKey: "text")
        try things[0].setValue(7, forKey: "number")
        try things[0].setValue("b", forKey: "text")
        throw Broken()
      }
    }
    #expect(!things[0].hasChanges && !things[0].row.isOwn && things[0].snapshot?.isIdentical(to: row) == true)
    #expect(things[0]["text"] == "t0" && things[0]["number"] == 0)
    try things[0].setValue("kept", forKey: "text")
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        try things[0].setValue(7, forKey: "number")
        try things[0].setValue("gone", forKey: "text")
        throw Broken()
      }
    }
    #expect(things[0].row.isOwn && things[0]["text"] == "kept" && things[0]["number"] == 0)
    #expect(try things[0].changedValues() == ["text": "kept"] && context.brokenInvariants() == [])
    try context.save()
    #expect(try bench.saved("Thing", "text").contains("kept"))
  }

  /// A value that is set and set back is saved as no change, and the object uses the store's row again.
  @Test(arguments: StoreKind.allCases)
  func whatIsSetBackIsNoChange(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, NewRowTests.model())
    let (context, things) = try things(bench)
    let row = try #require(things[0].snapshot)
    things[0]["text"] = "another"
    things[0]["text"] = "t0"
    things[1]["text"] = "changed"
    try context.save()
    #expect(things[0].snapshot?.isIdentical(to: row) == true && things[0].rowVersion == 1 && things[1].rowVersion == 2)
    #expect(!things[0].row.isOwn && context.brokenInvariants() == [])
  }

  /// Another thread may have the page of a failed save: later values are kept beside the row, and the next save copies
  /// both.
  @Test(arguments: StoreKind.allCases)
  func thePageOfAFailedSaveStaysAsItIs(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind, NewRowTests.model())
    let (context, things) = try things(bench)
    let (one, other) = (things[0], things[1])
    one["text"] = "one"
    try one.setObject(other, forKey: "next")
    let (page, place) = (try #require(one.page), Int(one.row.place))
    store.fail(atCommit: true)
    #expect(throws: GraphError.self) { try context.save() }
    #expect(page.stage == .sealed && one.page === page && one.isUpdated && one.rowVersion == 1)
    let slot = try one.slot(of: "text")
    one["number"] = 70
    one["text"] = "another"
    #expect(page.value(slot, of: place) == "one" && one["text"] == "another" && one["number"] == 70)
    #expect(try one.object(forKey: "next") === other && context.brokenInvariants() == [])
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        one["text"] = "third"
        throw Broken()
      }
    }
    #expect(one["text"] == "another")
    store.fail(atCommit: false)
    try context.save()
    #expect(one.rowVersion == 2 && one.page !== page && context.brokenInvariants() == [])
    let reader = bench.stranger()
    let fresh = try reader.object(with: one.objectID)
    #expect(fresh["text"] == "another" && fresh["number"] == 70 && fresh["kind"] == "saved")
    #expect(try fresh.object(forKey: "next")?.objectID == other.objectID)
  }

  /// Changes that a save's hook made are reverted with the failed save, even if the plan has already written them into
  /// the row: a new destination, and a text that no longer fits.
  @Test(arguments: StoreKind.allCases, ["next", "text"])
  func whatAFailedSaveSetIsUndone(_ kind: StoreKind, _ key: String) throws {
    let (bench, store) = try StoreBench.failing(kind, NewRowTests.model())
    let (_, saved) = try things(bench)
    let context = bench.context(extending: "Thing") { entry in
      entry.willSave = { thing in
        guard thing["number"] == 70, let context = thing.managedObjectContext else { return }
        if key == "text" { return thing["text"] = "hook" }
        guard try thing.object(forKey: "next") == nil else { return }
        try thing.setObject(context.insert("Thing", values: ["kind": "made"]), forKey: "next")
      }
    }
    let thing = try context.object(with: saved[0].objectID)
    // Former values leave no reusable space, and there is no room for more of them.
    for count in 0..<2000 { thing["text"] = .string(String(repeating: "b", count: count % 300)) }
    thing["text"] = "mine"
    thing["number"] = 70
    store.fail(atCommit: true)
    for _ in 0..<3 {
      #expect(throws: GraphError.self) { try context.save() }
      #expect(thing["text"] == "mine" && thing["next"] == .null && thing["number"] == 70)
      #expect(try thing.changedValues() == ["text": "mine", "number": 70] && context.brokenInvariants() == [])
    }
    store.fail(atCommit: false)
    if key == "text" { thing["text"] = "hook" }
    try context.save()
    let reader = bench.stranger()
    let fresh = try reader.object(with: thing.objectID)
    #expect(fresh["text"] == (key == "text" ? "hook" : "mine") && fresh["number"] == 70)
    #expect(try fresh.object(forKey: "next")?.value(forKey: "kind") == (key == "next" ? "made" : nil))
    #expect(context.brokenInvariants() == [])
    withExtendedLifetime(saved) {}
  }

  /// A model with a one-to-one relationship.
  private static let pairs = ManagedObjectModel {
    EntityDescription("T") {
      AttributeDescription("s", type: .string)
      AttributeDescription("n", type: .integer64)
      RelationshipDescription.toOne("one", destination: "O", inverse: "eno")
    }
    EntityDescription("O") {
      AttributeDescription("k", type: .integer64)
      RelationshipDescription.toOne("eno", destination: "T", inverse: "one")
    }
  }

  /// The row of a new partner also clears the former partner.
  @Test(arguments: StoreKind.allCases, [false, true])
  func whoWasThePartnerBeforeIsItNoLonger(_ kind: StoreKind, _ isChanged: Bool) throws {
    let bench = try StoreBench(kind, Self.pairs)
    let writer = bench.context()
    let (t, o1, o2) = (try writer.insert("T"), try writer.insert("O"), try writer.insert("O"))
    try t.setObject(o2, forKey: "one")
    try writer.save()
    let context = bench.context()
    let mine = try [t, o1, o2].map { try context.object(with: $0.objectID) }
    for object in mine { try object.fireFault() }
    try t.setObject(o1, forKey: "one")
    try writer.save()
    if isChanged { mine[0]["n"] = 3 }
    try context.refresh(mine[1], mergeChanges: true)
    #expect(try mine[0].object(forKey: "one") === mine[1] && mine[1].object(forKey: "eno") === mine[0])
    #expect(try mine[2].object(forKey: "eno") == nil && !mine[2].hasChanges && context.brokenInvariants() == [])
    try context.refresh(mine[0], mergeChanges: true)
    try context.save()
    #expect(try mine[2].object(forKey: "eno") == nil && mine[0].object(forKey: "one") === mine[1])
  }

  /// A change that the other side's row implies, within a failed operation, is no change and gives the object no row of
  /// its own.
  @Test(arguments: StoreKind.allCases)
  func whatAnotherRowTellsIsNoChange(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.pairs)
    let writer = bench.context()
    let (t, t2, o) = (try writer.insert("T"), try writer.insert("T"), try writer.insert("O"))
    (t["s"], t["n"], t2["s"]) = ("t", 1, "t2")
    try writer.save()
    let context = bench.context()
    let (mine, mine2) = (try context.object(with: t.objectID), try context.object(with: t2.objectID))
    let other = try context.object(with: o.objectID)
    for object in [mine, mine2, other] { try object.fireFault() }
    try o.setObject(t, forKey: "eno")
    try writer.save()
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        mine["n"] = 5
        try context.refresh(other, mergeChanges: true)
        throw Broken()
      }
    }
    #expect(mine["n"] == 1 && !mine.hasChanges && !mine.row.isOwn && context.brokenInvariants() == [])
    mine2["n"] = 7
    try context.save()
    #expect(try mine.committedValues()["s"] == "t")
    mine["n"] = 9
    #expect(throws: GraphError.self) { try context.save() }
    #expect(try bench.saved("T", "n").contains(1) && mine["n"] == 9 && context.brokenInvariants() == [])
  }

  /// A newer row replaces the row below the changes: changed values stay, all others are those of the newer row.
  @Test(arguments: StoreKind.allCases)
  func aNewerRowComesBelowTheChanges(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, NewRowTests.model())
    let (context, things) = try things(bench)
    things[0]["text"] = "mine"
    let writer = bench.context()
    let same = try writer.object(with: things[0].objectID)
    same["text"] = "theirs"
    same["number"] = 99
    try writer.save()
    try context.refresh(things[0], mergeChanges: true)
    #expect(things[0]["text"] == "mine" && things[0]["number"] == 99 && things[0].rowVersion == 2)
    #expect(try things[0].committedValues()["text"] == "theirs" && context.brokenInvariants() == [])
    things[0]["kind"] = "mine too"
    try context.save()
    let reader = bench.stranger()
    let fresh = try reader.object(with: things[0].objectID)
    #expect(fresh["text"] == "mine" && fresh["number"] == 99 && fresh["kind"] == "mine too")
  }

  /// Rows of former saves are released.
  @Test(arguments: StoreKind.allCases)
  func formerRowsGo(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, NewRowTests.model())
    let (context, things) = try things(bench, count: 100)
    var former: [Unowned] = []
    for round in 0..<6 {
      for thing in things { thing["text"] = .string("round \(round)") }
      former.append(Unowned(try #require(things[0].page)))
      // A discarded change leaves an unused row.
      if round % 2 == 0 { try context.refresh(things[0], mergeChanges: false) }
      try context.save()
      try things[0].fireFault()
    }
    #expect(former.dropLast(2).allSatisfy { $0.page == nil })
    #expect(context.brokenInvariants() == [])
  }

  private struct Unowned {
    weak var page: RowPage?
    init(_ page: RowPage) { self.page = page }
  }

  /// Setting a value repeatedly does not accumulate former values.
  @Test(arguments: ["text", "bytes", "price", "uuid"])
  func whatIsSetAgainTakesNoRoom(_ key: String) throws {
    let (context, things) = try things(StoreBench(.memory, NewRowTests.model()), count: 1)
    var random = SplitMix(1)
    for _ in 0..<5000 {
      try things[0].setValue(NewRowTests.value(key, &random), forKey: key)
      try things[0].setValue(.null, forKey: key)
    }
    let page = try #require(things[0].page)
    #expect(page.tailRoom < 20_000 && page.apart.count < 100 && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases)
  func objectsWeighWhatTheirRowsKeep(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, NewRowTests.model())
    let saved = try things(bench, count: 30)
    let (context, told) = NewRowTests.weighing(bench)
    func expected() -> Int { context.registeredObjects.reduce(0) { $0 + $1.weight } }
    let things = try saved.things.map { try context.object(with: $0.objectID) }
    var random = SplitMix(7)
    for round in 0..<6 {
      for _ in 0..<300 {
        let key = try #require(NewRowTests.keys.randomElement(using: &random))
        let thing = try #require(things.randomElement(using: &random))
        try thing.setValue(NewRowTests.value(key, &random), forKey: key)
      }
      #expect(told() == expected())
      switch round % 3 {
      case 0: try context.save()
      case 1: try context.rollback()
      default: for thing in things { try context.refresh(thing, mergeChanges: true) }
      }
      #expect(told() == expected() && context.brokenInvariants() == [])
    }
    withExtendedLifetime(saved) {}
  }
}
