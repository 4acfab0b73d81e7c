import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Predicates over elements of composites run in SQL, with the same results as in memory.
@Suite struct CompositeQueryTests {
  private static let conditions = [
    "address == NULL", "address != NULL", "address.place == NULL", "address.place != NULL", "NOT address == NULL",
    "address.city == 'Rome'", "address.city != 'Rome'", "NOT address.city == 'Rome'", "address.city == NULL",
    "address.city BEGINSWITH 'R'", "address.city ==[c] 'rome'", "address.city CONTAINS 'o'", "address.city LIKE '*o'",
    "address.city IN {'Rome', 'Oslo'}", "address.number > 1", "address.number BETWEEN {1, 2}",
    "address.number + 1 == 2", "address.rent >= 1.5", "address.rent == NULL", "address.owned == YES",
    "address.since > CAST(1, 'NSDate')", "address.place.latitude > 0.5", "address.place.height == 0.1",
    "address.place.latitude < address.place.longitude", "boss.address.city == 'Rome'",
    "boss.address == NULL", "boss.address.place.latitude >= 1", "ANY staff.address.city == 'Rome'",
    "ALL staff.address.number > 0", "staff.@max.address.number == 2", "staff.@sum.address.number > 1",
    "SUBQUERY(staff, $s, $s.address.city == address.city).@count > 0", "address.city == name",
  ]

  private let benches: [StoreBench]

  init() throws {
    let model = Addresses.model {
      $0.indexes = [
        FetchIndexDescription("byCity", on: "address.city"),
        FetchIndexDescription("byBoth", on: "address.place.latitude", "-name"),
      ]
    }
    benches = try StoreKind.allCases.map { try StoreBench($0, model) }
    for bench in benches { try Self.fill(bench.context()) }
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    var random = SplitMix(5)
    let cities: [Value] = [.null, "Rome", "rome", "Oslo", "", "Rio"]
    func pick(_ values: [Value]) -> Value { values[random.next(values.count)] }
    let numbers: [Value] = [.null, 0, 1, 2], doubles: [Value] = [.null, 0.5, 1.0, 1.5]
    var people: [ManagedObject] = []
    for name in 0..<40 {
      let address: Value = [
        "city": pick(cities), "number": pick(numbers),
        "rent": pick([.null, .decimal(1), .decimal(Decimal(literal: "1.5") ?? 0)]),
        "owned": pick([.null, true, false]),
        "since": pick([
          .null, .date(Date(timeIntervalSinceReferenceDate: 1)), .date(Date(timeIntervalSinceReferenceDate: 2)),
        ]),
        "place": ["latitude": pick(doubles), "longitude": pick(doubles), "height": pick([.null, 0.1, 1.0])],
      ]
      let person = try context.insert("Person", values: ["name": .string(name % 7 == 0 ? "Rome" : "\(name)")])
      if random.next(4) > 0 { try person.setValue(address, forKey: "address") }
      if let boss = people.last, random.next(3) > 0 {
        try person.setObject(random.next(2) == 0 ? boss : people[random.next(people.count)], forKey: "boss")
      }
      people.append(person)
    }
    try context.save()
  }

  private func keys(_ bench: StoreBench, _ request: FetchRequest) throws -> [Int64] {
    try bench.stranger().fetch(request).map(\.objectID.key)
  }

  @Test(arguments: conditions)
  func bothStoresFindTheSameByElements(_ format: String) throws {
    let request = FetchRequest("Person", where: try Predicate(format: format))
    let found = try benches.map { try keys($0, request).sorted() }
    #expect(found[0] == found[1], "\(format)")
    #expect(!found[0].isEmpty && found[0].count < 40, "\(format) finds \(found[0].count)")
    let lines = try benches[1].stranger().explain(request)
    #expect(!lines.contains("the context"), "\(lines)")
  }

  @Test(arguments: [
    "address.city", "-address.city", "address.place.latitude", "-address.number", "boss.address.city", "address.rent",
  ])
  func bothStoresSortAlikeByElements(_ key: String) throws {
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor(text: key)]
    let found = try benches.map { try keys($0, request) }
    #expect(found[0] == found[1])
    #expect(!(try benches[1].stranger().explain(request).contains("the context")))
  }

  @Test func anIndexOfAnElementServes() throws {
    let request = FetchRequest("Person", where: try Predicate(format: "address.city == 'Rome'"))
    #expect(try benches[1].stranger().explain(request).contains("USING INDEX Z_Person_byCity (ZCITY=?)"))
  }

  @Test func rowsOfElementsAndGroupsByThemComeFromSQL() throws {
    for (columns, groups, asked) in [
      (["address.city", "@count"], ["address.city"], true),
      (["address.city", "@max.address.number"], ["address.city"], true),
      (["name", "address.place.latitude"], [], true), (["name", "address"], [], false),
    ] as [([String], [String], Bool)] {
      var request = FetchRequest("Person")
      request.resultType = .dictionaries
      request.propertiesToFetch = try columns.map { FetchColumn($0, expression: try Expression(format: $0)) }
      request.propertiesToGroupBy = groups
      let rows = try benches.map { try $0.stranger().fetchDictionaries(request) }
      #expect(rows[0] == rows[1] && !rows[0].isEmpty)
      let lines = try benches[1].stranger().explain(request)
      #expect(lines.contains("the context computes the columns") != asked, "\(lines)")
    }
  }

  @Test(arguments: [
    (["address"], "which is a composite"), (["address.city"], "which is an element of a composite"),
  ])
  func aConstraintOverACompositeIsRefused(_ constraint: [String], _ reason: String) throws {
    let error = try #require(throws: ModelError.self) {
      try Addresses.model { $0.uniquenessConstraints = [constraint] }.resolved()
    }
    #expect(error.message.contains("names \(constraint[0]), \(reason)"), "\(error)")
  }

  @Test(arguments: StoreKind.allCases)
  func batchRequestsTakeWholeValuesAndAskElements(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Addresses.model())
    let context = bench.context()
    try context.execute(
      BatchInsertRequest(
        "Person",
        objects: [
          ["name": "a", "address": ["city": "Rome", "owned": true]], ["name": "b", "address": [:]], ["name": "c"],
        ]))
    let update = BatchUpdateRequest(
      "Person", where: try Predicate(format: "address.city == 'Rome'"), set: ["address": ["city": "Oslo", "number": 3]])
    try context.execute(update)
    try context.execute(BatchDeleteRequest(FetchRequest("Person", where: try Predicate(format: "address == NULL"))))
    let fresh = bench.stranger()
    let left = try fresh.fetch(FetchRequest("Person")).map { try $0.value(forKey: "address") }
    #expect(left == [["city": "Oslo", "number": 3]])
  }

  /// A function of SQLite takes some hundred arguments.
  @Test func aCompositeOfManyElementsIsAskedForNil() throws {
    let wide = AttributeDescription("wide", type: .composite).with {
      $0.elements = (0..<150).map { AttributeDescription("e\($0)", type: .integer16) }
    }
    let bench = try StoreBench(.sqlite, Addresses.model { $0.attributes.append(wide) })
    let context = bench.context()
    _ = try context.insert("Person", values: ["name": "a", "wide": ["e149": 1]])
    _ = try context.insert("Person", values: ["name": "b"])
    try context.save()
    let request = FetchRequest("Person", where: try Predicate(format: "wide == NULL"))
    let fresh = bench.stranger()
    #expect(try fresh.fetch(request).map { try $0.value(forKey: "name") } == ["b"])
    #expect(!(try fresh.explain(request).contains("the context")))
  }

  @Test func anIndexOfAWholeCompositeIsMadeInNoFile() throws {
    let model = Addresses.model { $0.indexes = [FetchIndexDescription("a", on: "address")] }
    #expect(
      try model.resolved().warnings.contains {
        $0.contains("its element address is a composite, which has several columns")
      })
  }
}
