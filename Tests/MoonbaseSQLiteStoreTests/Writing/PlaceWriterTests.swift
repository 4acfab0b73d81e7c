import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Places in files where there is no room for what comes or moves.
@Suite struct PlaceWriterTests {
  /// A department with so many projects whose places are set past the store.
  private func people(_ count: Int, places: String) throws -> (PeopleStore, ManagedObjectID, [ManagedObjectID], Slot) {
    let people = try PeopleStore()
    let department = try people.row("Department")
    let projects = try (0..<count).map { _ in
      try people.row("Project", ["department": .objectID(department.id)])
    }
    try people.save { $0.inserted = [department] + projects }
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
    // Two are moved, one of them to the front, and one comes.
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

  /// A text sorts behind all numbers, and would be read as the place 0.
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
