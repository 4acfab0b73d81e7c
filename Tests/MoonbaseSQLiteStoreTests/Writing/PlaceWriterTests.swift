import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Position numbers in files without room for inserted or moved members.
@Suite struct PlaceWriterTests {
  /// A department with `count` projects, whose positions are set by SQL without the store.
  private func people(_ count: Int, places: String) throws -> (PeopleStore, ManagedObjectID, [ManagedObjectID], Slot) {
    let people = try PeopleStore()
    let department = try people.row("Department")
    let projects = try (0..<count).map { _ in
      try people.row("Project", ["department": .objectID(department.id)])
    }
    try people.save { $0.inserted = RowBatch([department] + projects) }
    _ = try RawDatabase(people.folder.file()).rows("UPDATE ZPROJECT SET Z_FOK_DEPARTMENT = \(places)")
    return (people, department.id, projects.map(\.id), try #require(people.entity("Department").slot("projects")))
  }

  @Test func behindTheGreatestPlaceAllArePlacedAnew() throws {
    let (people, department, ids, slot) = try people(3, places: "9223372036854775803 + Z_PK")
    #expect(try people.store.destinations(of: department, relationship: slot) == ids)
    let new = try people.row("Project", ["department": .objectID(department)])
    try people.save {
      $0.inserted = [new]
      $0.links = [
        .init(owner: department, slot: slot, added: [], removed: [], order: .appended([new.id], returned: []))
      ]
    }
    #expect(try people.store.destinations(of: department, relationship: slot) == ids + [new.id])
  }

  @Test func amongPlacesWithoutGapsAllArePlacedAnewInTheFilesOrder() throws {
    let (people, department, ids, slot) = try people(300, places: "Z_PK")
    let new = try people.row("Project", ["department": .objectID(department)])
    // Two projects are moved, one of them to the front, and a project is inserted.
    let middle = Array(ids[100..<150]) + [new.id] + ids[150..<200]
    let front = [ids[250]] + ids[0..<40]
    try people.save {
      $0.inserted = [new]
      $0.links = [
        .init(
          owner: department, slot: slot, added: [], removed: [],
          order: .stretches([.init(ids: front, moved: [0]), .init(ids: middle, moved: [50])]))
      ]
    }
    let expected = [ids[250]] + ids[0..<150] + [new.id] + ids[150..<250] + ids[251...]
    #expect(try people.store.destinations(of: department, relationship: slot) == Array(expected))
  }

  /// A text sorts after all numbers, and would be read as position 0.
  @Test func aPlaceThatIsNoNumberIsTold() throws {
    let (people, department, ids, slot) = try people(3, places: "CASE Z_PK WHEN 1 THEN 'abc' ELSE Z_PK END")
    #expect(try people.store.destinations(of: department, relationship: slot) == [ids[1], ids[2], ids[0]])
    let stretch = StoreChanges.Stretch(ids: [ids[1], ids[0], ids[2]], moved: [1])
    for order in [StoreChanges.Order.stretches([stretch]), .all(ids), .appended([ids[0]], returned: [])] {
      let error = #expect(throws: GraphError.self) {
        try people.save {
          $0.links = [.init(owner: department, slot: slot, added: [], removed: [], order: order)]
        }
      }
      #expect(error?.code == .invalidStore)
      let expected = "table ZPROJECT, destination 1: Z_FOK_DEPARTMENT holds the text \"abc\""
      #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }
  }

  @Test func whatReturnsStandsAtTheEndAndWhatIsThereStays() throws {
    let (people, department, ids, slot) = try people(4, places: "Z_PK * 10")
    try people.save {
      $0.links = [
        .init(
          owner: department, slot: slot, added: [], removed: [],
          order: .appended([ids[1], ids[0]], returned: [ids[0]]))
      ]
    }
    #expect(try people.store.destinations(of: department, relationship: slot) == [ids[1], ids[2], ids[3], ids[0]])
  }
}

/// Repeated appends to an ordered list, without a read of its members.
@Suite struct OrderEndTests {
  private struct Bench {
    let people: PeopleStore
    let department: ManagedObjectID
    let slot: Slot
    private(set) var expected: [ManagedObjectID] = []

    init() throws {
      people = try PeopleStore()
      let department = try people.row("Department")
      try people.insert(department)
      self.department = department.id
      slot = try #require(people.entity("Department").slot("projects"))
    }

    func project() throws -> Snapshot { try people.row("Project", ["department": .objectID(department)]) }

    /// Saves projects at the end; returns whether the last position was read.
    mutating func append(_ rows: [Snapshot], _ change: (inout StoreChanges) throws -> Void = { _ in }) throws -> Bool {
      let ids = rows.map(\.id)
      let statements = try people.statements {
        try people.save {
          $0.inserted = RowBatch(rows)
          $0.links = [
            .init(owner: department, slot: slot, added: [], removed: [], order: .appended(ids, returned: []))
          ]
          try change(&$0)
        }
      }
      expected += ids
      return statements.contains { $0.contains("MAX(\"Z_FOK_DEPARTMENT\")") || $0.contains("MAX(Z_FOK_DEPARTMENT)") }
    }

    mutating func append() throws -> Bool { try append([project()]) }

    mutating func check(_ location: Testing.SourceLocation = #_sourceLocation) throws {
      let ids = try people.store.destinations(of: department, relationship: slot)
      #expect(ids == expected, sourceLocation: location)
    }

    mutating func expect(_ ids: [ManagedObjectID]) { expected = ids }
  }

  @Test func theLastPlaceIsAskedForOnce() throws {
    var bench = try Bench()
    #expect(try bench.append())
    for count in 1...20 { #expect(try !bench.append((0..<count).map { _ in try bench.project() })) }
    try bench.check()
    // A deleted member leaves a gap.
    let last = try #require(bench.expected.last)
    try bench.people.save { $0.deleted = [.init(id: last, expectedVersion: nil)] }
    bench.expect(bench.expected.dropLast())
    #expect(try !bench.append())
    try bench.check()
  }

  @Test func itIsAskedForAgainWhereSomebodyElseWrote() throws {
    var bench = try Bench()
    _ = try bench.append()
    try RawDatabase(bench.people.folder.file()).connection.execute(
      "INSERT INTO ZPROJECT (Z_PK, Z_ENT, Z_OPT, ZDEPARTMENT, Z_FOK_DEPARTMENT) SELECT 999, Z_ENT, 1, ZDEPARTMENT, "
        + "Z_FOK_DEPARTMENT + 100000 FROM ZPROJECT")
    bench.expect(
      bench.expected + [
        ManagedObjectID(
          store: StoreNumber(bench.people.store.identifier), entity: bench.people.entity("Project").symbol, key: 999)
      ])
    #expect(try bench.append())
    #expect(try !bench.append())
    try bench.check()
  }

  @Test func itIsAskedForAgainAfterASaveThatFails() throws {
    var bench = try Bench()
    _ = try bench.append()
    let before = bench.expected
    #expect(throws: GraphError.self) {
      try bench.append([bench.project()]) { $0.deleted = [.init(id: before[0], expectedVersion: 7)] }
    }
    #expect(try bench.append())
    try bench.check()
  }

  /// Members without a position follow those with one, and so precede the next appended member.
  @Test func itIsAskedForAgainWhereMembersCameWithoutAPlace() throws {
    var bench = try Bench()
    _ = try bench.append()
    let (silent, late) = (try bench.project(), try bench.project())
    try bench.people.insert(silent)
    bench.expect(bench.expected + [silent.id])
    #expect(try bench.append())
    try bench.check()
    #expect(try !bench.append())
    // In the same save, and by an update.
    let update = try bench.people.update(bench.expected[0], ["department": .objectID(bench.department)])
    #expect(
      try bench.append([bench.project()]) {
        $0.inserted.append(late)
        $0.updated = [update]
      })
    let new = try #require(bench.expected.last)
    let found = try bench.people.store.destinations(of: bench.department, relationship: bench.slot)
    #expect(found.last == new && Set(found) == Set(bench.expected + [late.id]))
  }

  @Test func itIsAskedForAgainWhereTheListWasOrderedAnew() throws {
    var bench = try Bench()
    for _ in 0..<3 { _ = try bench.append() }
    let reversed = Array(bench.expected.reversed())
    try bench.people.save {
      $0.links = [
        .init(owner: bench.department, slot: bench.slot, added: [], removed: [], order: .all(reversed))
      ]
    }
    bench.expect(reversed)
    #expect(try bench.append())
    try bench.check()
  }

  /// If only one list of a many-to-many relationship is ordered, members added through the other list have no position.
  @Test(arguments: [false, true]) func itIsAskedForAgainWhereMembersCameFromTheirSide(together: Bool) throws {
    let people = try PeopleStore(Pairs.model())
    let rows = try (0..<5).map { _ in try people.row("Node") }
    try people.save { $0.inserted = RowBatch(rows) }
    let ids = rows.map(\.id)
    let likes = try #require(people.entity("Node").slot("likes"))
    let likedBy = try #require(people.entity("Node").slot("likedBy"))
    func append(_ member: Int) -> StoreChanges.Links {
      .init(
        owner: ids[0], slot: likes, added: [ids[member]], removed: [], order: .appended([ids[member]], returned: []))
    }
    let silent = StoreChanges.Links(owner: ids[3], slot: likedBy, added: [ids[0]], removed: [], order: nil)
    try people.save { $0.links = [append(1)] }
    try people.save { $0.links = [append(2)] }
    if together {
      try people.save { $0.links = [silent, append(4)] }
    } else {
      try people.save { $0.links = [silent] }
      try people.save { $0.links = [append(4)] }
    }
    #expect(try people.store.destinations(of: ids[0], relationship: likes) == [1, 2, 3, 4].map { ids[$0] })
    #expect(
      try RawDatabase(people.folder.file()).rows("SELECT COUNT(*), COUNT(DISTINCT Z_FOK_1LIKES) FROM Z_1LIKES")
        == ["4|4"])
  }
}
