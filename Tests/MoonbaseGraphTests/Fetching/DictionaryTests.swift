import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Dictionary results are read in batches of a few objects.
@Suite struct DictionaryTests {
  private func fill(_ bench: StoreBench, _ count: Int) throws {
    var random = SplitMix(7)
    let context = bench.context()
    let departments = try (0..<7).map { number in
      let department = try context.insert("Department")
      if number > 0 { try department.setValue(.string("d\(number % 4)"), forKey: "name") }
      return department
    }
    for number in 0..<count {
      let person = try context.insert(number % 3 == 0 ? "Employee" : "Person")
      try person.setValue(.string("\(number)"), forKey: "email")
      try person.setValue(.int(Int64(random.next(40))), forKey: "age")
      if random.next(5) > 0 { try person.setValue(.string("n\(random.next(9))"), forKey: "firstName") }
      if random.next(5) > 0 { try person.setObject(departments[random.next(7)], forKey: "department") }
    }
    try context.save()
  }

  private func request(
    _ columns: [(String, String)], by keys: [String] = [], _ change: (inout FetchRequest) -> Void = { _ in }
  )
    throws -> FetchRequest
  {
    var request = FetchRequest("Person")
    request.propertiesToFetch = try columns.map { FetchColumn($0, expression: try Expression(format: $1)) }
    request.propertiesToGroupBy = keys
    change(&request)
    return request
  }

  /// The naive reference: all objects in a list, each function over all values of a group at once.
  private func naive(_ request: FetchRequest, _ context: ManagedObjectContext) throws -> [[String: Value]] {
    var all = FetchRequest("Person", where: request.predicate)
    all.sortDescriptors = request.sortDescriptors
    let objects = try context.fetch(all)
    var groups: [[ManagedObject]] = []
    var places: [[Value]: Int] = [:]
    for object in objects {
      let key = try request.propertiesToGroupBy.map { try value($0, object) }
      if let place = places[key] {
        groups[place].append(object)
      } else {
        places[key] = groups.count
        groups.append([object])
      }
    }
    if request.propertiesToGroupBy.isEmpty { groups = objects.map { [$0] } }
    let isWhole = request.propertiesToGroupBy.isEmpty && request.propertiesToFetch.allSatisfy { isFunction($0) }
    if isWhole { groups = [objects] }
    return try groups.map { members in
      var row: [String: Value] = [:]
      for column in request.propertiesToFetch {
        let all = request.propertiesToGroupBy.isEmpty && isFunction(column) ? objects : members
        let value = try isFunction(column) ? whole(column, all) : value(path(column), members[0])
        if !value.isNull { row[column.name] = value }
      }
      return row
    }
  }

  private func path(_ column: FetchColumn) -> String {
    if case .keyPath(_, let keys) = column.expression { keys.joined(separator: ".") } else { "" }
  }

  private func isFunction(_ column: FetchColumn) -> Bool { path(column).hasPrefix("@") }

  private func value(_ path: String, _ object: ManagedObject) throws -> Value {
    var object = object
    let keys = path.split(separator: ".").map(String.init)
    for key in keys.dropLast() {
      guard let next = try object.object(forKey: key) else { return .null }
      object = next
    }
    return try object.value(forKey: keys[keys.count - 1])
  }

  private func whole(_ column: FetchColumn, _ members: [ManagedObject]) throws -> Value {
    let parts = path(column).split(separator: ".", maxSplits: 1).map(String.init)
    if parts.count == 1 { return .int(Int64(members.count)) }
    let values = try members.map { try value(parts[1], $0) }.filter { !$0.isNull }
    let numbers = values.compactMap(\.asDouble)
    switch parts[0] {
    case "@count": return .int(Int64(values.count))
    case "@sum": return .int(Int64(numbers.reduce(0, +)))
    case "@min": return numbers.min().map { .int(Int64($0)) } ?? .null
    case "@max": return numbers.max().map { .int(Int64($0)) } ?? .null
    default: return numbers.isEmpty ? .null : .double(numbers.reduce(0, +) / Double(numbers.count))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func dictionariesAreWhatTheyWouldBeOfAllObjectsAtOnce(kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    try fill(bench, Repetition.dictionaryRows.count)
    let plain = [("email", "email"), ("age", "age"), ("of", "department.name")]
    let functions = [
      ("n", "@count"), ("named", "@count.firstName"), ("sum", "@sum.age"), ("least", "@min.age"), ("most", "@max.age"),
      ("mean", "@avg.age"),
    ]
    let young = try Predicate(format: "age < 30 AND department.name != 'd2'")
    let sort = [SortDescriptor("age", ascending: false), SortDescriptor("email")]
    let questions: [(Predicate?, [SortDescriptor])] = [
      (nil, []), (nil, sort), (young, sort), (young, []), (.constant(false), []),
    ]
    for keys in [[], ["firstName"], ["department.name", "age"]] {
      for all in [plain, functions, Array(plain.prefix(2)) + functions] {
        let columns = all.filter { keys.isEmpty || keys.contains($1) || $1.hasPrefix("@") }
        if columns.isEmpty { continue }
        for (predicate, sort) in questions {
          let request = try request(columns, by: keys) {
            $0.predicate = predicate
            $0.sortDescriptors = sort
          }
          let context = bench.context()
          let (found, expected) = (try context.fetchDictionaries(request), try naive(request, context))
          #expect(found.count == expected.count)
          let wrong = zip(found, expected).first { !isSame($0, $1) }
          #expect(wrong == nil, "\(keys) \(columns)")
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aColumnHasOneValueInEachGroupOrIsRefused(kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    try fill(bench, 60)
    let context = bench.context()
    for (column, named) in [
      ("firstName", "firstName"), ("department.name", "department.name"), ("SELF", "SELF"),
    ] {
      let error = #expect(throws: ModelError.self) {
        try context.fetchDictionaries(try request([("column", column)], by: ["age"]))
      }
      #expect(
        error?.message.contains("add \(named) to group_by") == true, "\(error as Any)")
    }
    let sound = try request(
      [
        ("age", "age"), ("next", "age + 1"), ("spread", "@max.age - age"), ("of", "department.name"),
        ("one", "1"),
      ],
      by: ["age", "department"])
    #expect(try context.fetchDictionaries(sound).count > 1)
    let keys = try context.fetchDictionaries(try request([], by: ["age"]))
    #expect(Set(keys.map(\.keys.first)) == ["age"])
  }

  private func isSame(_ row: [String: Value], _ other: [String: Value]) -> Bool {
    row.keys == other.keys
      && row.allSatisfy { key, value in value == other[key] || value.asDouble == other[key]?.asDouble }
  }

  @Test(arguments: StoreKind.allCases)
  func havingDistinctOffsetAndLimitLeaveWhatTheyWouldOfAll(kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    try fill(bench, 1300)
    let context = bench.context()
    let columns = [("age", "age"), ("of", "department.name")]
    let all = try context.fetchDictionaries(try request(columns))
    var different: [[String: Value]] = []
    for row in all where !different.contains(row) { different.append(row) }
    let windows = [(0, 0), (5, 0), (0, 3), (40, 30), (511, 2), (512, 600), (2000, 1)]
    for (offset, limit) in windows {
      for isDistinct in [false, true] {
        let request = try request(columns) {
          $0.fetchOffset = offset
          $0.fetchLimit = limit
          $0.returnsDistinctResults = isDistinct
        }
        let rest = (isDistinct ? different : all).dropFirst(offset)
        let expected = Array(limit > 0 ? rest.prefix(limit) : rest)
        #expect(try context.fetchDictionaries(request) == expected, "\(offset) \(limit) \(isDistinct)")
      }
    }
    let having = try request(columns) {
      $0.havingPredicate = try? Predicate(format: "age > 30 AND of == 'd1'")
      $0.fetchLimit = 20
    }
    let expected = all.filter { ($0["age"]?.asDouble ?? 0) > 30 && $0["of"] == "d1" }.prefix(20)
    #expect(try context.fetchDictionaries(having) == Array(expected))
  }

  @Test(arguments: StoreKind.allCases, [[], ["firstName"]])
  func fewObjectsAreThereAtATime(kind: StoreKind, keys: [String]) throws {
    let bench = try StoreBench(kind)
    try fill(bench, 4000)
    let context = bench.context()
    var (held, greatest) = (0, 0)
    context.extensionRegistry.weigh = { bytes in
      held += bytes
      greatest = max(greatest, held)
    }
    var count = 0
    let columns = keys.isEmpty ? [("email", "email"), ("of", "department.name")] : [("n", "@count")]
    try DictionaryRows(request(columns, by: keys), in: context).forEach { _ in count += 1 }
    #expect(count == (keys.isEmpty ? 4000 : 10))
    // An object and its row weigh more than 600 bytes; all objects together would weigh 2.4 MB.
    #expect(greatest < 1 << 20)
    #expect(held < 1 << 17)
  }

  @Test(arguments: StoreKind.allCases)
  func allDictionariesAreOfOneStateOfTheStore(kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    try fill(bench, 900)
    let columns = try request([("age", "age")])
    let (reader, writer) = (bench.context(), bench.context())
    let before = try reader.fetchDictionaries(columns)
    var found: [[String: Value]] = []
    let rows = try DictionaryRows(columns, in: reader)
    try rows.forEach { row in
      if found.isEmpty {
        for person in try writer.fetch(FetchRequest("Person")) { try person.setValue(.int(99), forKey: "age") }
        try writer.save()
      }
      found.append(rows.dictionary(row))
    }
    #expect(found == before)
    #expect(try reader.fetchDictionaries(columns).allSatisfy { $0["age"] == 99 })
  }

  @Test(arguments: StoreKind.allCases)
  func anErrorInTheMiddleEndsTheWalkAndNothingElse(kind: StoreKind) throws {
    struct Enough: Error {}
    let bench = try StoreBench(kind)
    try fill(bench, 1100)
    let context = bench.context()
    let rows = try DictionaryRows(try request([("age", "age")]), in: context)
    for place in [1, 512, 513, 1100] {
      var count = 0
      #expect(throws: Enough.self) {
        try rows.forEach { _ in
          count += 1
          if count == place { throw Enough() }
        }
      }
      #expect(count == place)
    }
    #expect(try context.fetchDictionaries(try request([("age", "age")])).count == 1100)
  }
}
