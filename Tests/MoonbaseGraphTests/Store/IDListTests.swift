import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Lists of IDs are packed in their order, whatever their entities and stores.
@Suite struct IDListTests {
  private func ids(_ pattern: String) -> [ManagedObjectID] {
    pattern.enumerated().map { place, letter in
      letter == "t"
        ? ManagedObjectID(temporaryFor: Symbol("Person"))
        : ManagedObjectID(
          store: StoreNumber(letter.isUppercase ? "A" : "B"), entity: Symbol(letter.lowercased()), key: Int64(place * 7)
        )
    }
  }

  @Test(arguments: ["", "p", "pppp", "pppq", "qppp", "pqpqpq", "pPpP", "ptqpt", "ppPPqqQQpp"])
  func theyAreThoseThatWerePutIn(_ pattern: String) {
    let ids = ids(pattern)
    #expect(Array(IDList(ids)) == ids)
    for cut in 0...ids.count {
      var list = IDList(ids[..<cut])
      list.append(contentsOf: IDList(ids[cut...]))
      #expect(Array(list) == ids && list == IDList(ids) && list.count == ids.count)
      #expect(Array(list.dropFirst(cut)) == Array(ids[cut...]))
    }
    #expect(ids.isEmpty || IDList(ids) != IDList(ids.dropLast()))
  }

  @Test func eightBytesAreEnoughWhereAllAreOfOneKind() {
    #expect(IDList(ids("pppppppp")).weight == 64)
    #expect(IDList(ids("ppppPPPP")).weight == 96)
  }

  @Test func aCursorGivesThemAPageAtATime() throws {
    let ids = ids("pppqqp")
    let cursor = IDListCursor(IDList(ids))
    #expect(Array(cursor.next(upTo: 4)) == Array(ids[..<4]))
    let rest = try cursor.remainingIDs()
    #expect(Array(rest) == Array(ids[4...]))
    #expect(cursor.next(upTo: 4).isEmpty)
  }

  /// A session returns the IDs without reading the rows, where the store can.
  @Test(arguments: StoreKind.withFolder) func aSessionGivesTheIDsOfItsRowsInTheirOrder(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for age in 0..<1300 {
      try context.insert(age % 3 == 0 ? "Employee" : "Person", values: ["age": .int(Int64(age % 100))])
    }
    try context.save()
    for (name, count) in [("Person", 1300), ("Employee", 434), ("Department", 0)] {
      let store = bench.coordinator.persistentStores[0]
      var query = StoreQuery(entity: try #require(context.model.entity(name)), in: context.model)
      let rows = try store.snapshots(matching: query).map(\.id)
      #expect(rows.count == count)
      #expect(try store.objectIDs(matching: query) == IDList(rows))
      let session = try store.beginReading()
      defer { session.end() }
      let cursor = try session.ids(matching: query)
      var found: [ManagedObjectID] = []
      while case let page = try cursor.next(upTo: 100), !page.isEmpty {
        #expect(page.count <= 100)
        found += page
      }
      #expect(found == rows)
      (query.limit, query.offset) = (10, 20)
      #expect(try store.objectIDs(matching: query) == IDList(rows.dropFirst(20).prefix(10)))
    }
  }
}
