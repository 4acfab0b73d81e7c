import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Each call of a store fails once, during a save and during all ways to read: context and store are unchanged, and the
/// repeated operation succeeds.
@Suite struct EveryCallFailsTests {
  private struct Bench {
    let bench: StoreBench
    let store: FailingStore
    let context: ManagedObjectContext

    init(_ kind: StoreKind) throws {
      (bench, store) = try StoreBench.failing(kind)
      context = bench.stranger()
      try Self.fill(bench.stranger())
    }

    private static func fill(_ context: ManagedObjectContext) throws {
      let departments = try ["earth", "moon"].map { try context.insert("Department", values: ["name": .string($0)]) }
      for title in ["a", "b", "c"] {
        try departments[1].add(context.insert("Project", values: ["title": .string(title)]), to: "projects")
      }
      let people = try ["ada", "bob", "cara", "dan"].enumerated().map { index, name in
        let person = try context.insert(
          index == 3 ? "Employee" : "Person",
          values: ["firstName": .string(name), "email": .string(name), "age": .int(Int64(index))])
        try person.setObject(departments[index % 2], forKey: "department")
        return person
      }
      try people[0].setObjects([people[1], people[2]], forKey: "friends")
      try context.save()
    }

    func named(_ name: String) throws -> ManagedObject {
      let (entity, key) =
        ["earth", "moon"].contains(name)
        ? ("Department", "name") : name.count == 1 ? ("Project", "title") : ("Person", "firstName")
      return try #require(try context.fetch(FetchRequest(entity, where: "\(key) == '\(name)'")).first)
    }

    /// Changes of all kinds, so that a save reads destinations, writes rows, pairs and positions, and deletes.
    func change() throws {
      let (ada, bob, moon) = (try named("ada"), try named("bob"), try named("moon"))
      try bob.setValue(50, forKey: "age")
      try bob.setObject(named("earth"), forKey: "department")
      try ada.remove(bob, from: "friends")
      let new = try context.insert("Person", values: ["firstName": "eve", "email": "eve"])
      try new.add(ada, to: "friends")
      try new.setObject(moon, forKey: "department")
      try context.delete(named("cara"))
      try context.delete(named("b"))
      try moon.setObjects(
        [named("c"), context.insert("Project", values: ["title": "n"]), named("a")], forKey: "projects")
    }

    /// All saved values, by names.
    func content() throws -> [String] { try lines(of: bench.stranger(), EveryCallFailsTests.entities) { _ in true } }

    /// The unsaved changes.
    func changes() throws -> [String] {
      let kinds = [context.insertedObjects, context.updatedObjects, context.deletedObjects].map { $0.map(\.objectID) }
      return try kinds.enumerated().flatMap { place, ids in
        try ids.map { id in
          let object = try #require(context.registeredObject(for: id))
          return "\(place): \(object.isDeleted ? try name(object) : try line(object))"
        }.sorted()
      }
    }

    private func lines(
      of context: ManagedObjectContext, _ entities: [String], _ isWanted: (ManagedObject) -> Bool
    ) throws -> [String] {
      try entities.flatMap { entity in try context.fetch(FetchRequest(entity)).filter(isWanted).map(line).sorted() }
    }

    func line(_ object: ManagedObject) throws -> String {
      try object.entity.properties.filter { !$0.isTransient }.map { property in
        guard let relationship = property.relationship else {
          return "\(property.name)=\(try object.value(forKey: property.name))"
        }
        guard relationship.isToMany else {
          return "\(property.name)=\(try object.object(forKey: property.name).map(name) ?? "-")"
        }
        let names = try object.objects(forKey: property.name).map(name)
        return "\(property.name)=\((relationship.isOrdered ? names : names.sorted()).joined(separator: "+"))"
      }.joined(separator: " ")
    }

    func name(_ object: ManagedObject) throws -> String {
      for key in ["firstName", "name", "title"] where object.entity.property(key) != nil {
        return "\(try object.value(forKey: key))"
      }
      return "?"
    }
  }

  private static let entities = ["Person", "Department", "Project"]

  /// Runs `body` on a new bench with each call failing in turn, checks that nothing changed, and runs `body` again.
  private func eachCall(
    _ kind: StoreKind, changed: Bool, atLeast least: Int, _ body: (Bench) throws -> [String]
  ) throws {
    let whole = try Bench(kind)
    let before = try whole.content()
    if changed { try whole.change() }
    let changes = try whole.changes()
    let expected = try body(whole)
    let after = try whole.content()
    for count in 0... {
      let bench = try Bench(kind)
      if changed { try bench.change() }
      bench.store.fail(onceAfterCalls: count)
      let result = Result { try body(bench) }
      if bench.store.isToFail {
        bench.store.fail(onceAfterCalls: nil)
        #expect(try result.get() == expected)
        #expect(count >= least, "only \(count) calls")
        return
      }
      let error = #expect(throws: GraphError.self, "call \(count) failed, and nothing was told") { try result.get() }
      #expect(error?.code == .storeFailure)
      #expect(bench.context.brokenInvariants() == [], "call \(count)")
      #expect(try bench.content() == before, "call \(count)")
      #expect(try bench.changes() == changes, "call \(count)")
      #expect(bench.context.brokenInvariants() == [], "call \(count)")
      #expect(try body(bench) == expected, "again after call \(count)")
      #expect(try bench.content() == after, "call \(count)")
    }
  }

  @Test(arguments: StoreKind.withFolder) func aSaveOfWhichAnyCallFailsLeavesAllAsItWas(_ kind: StoreKind) throws {
    try eachCall(kind, changed: true, atLeast: 5) { bench in
      try bench.context.save()
      return [bench.context.changesToShow]
    }
  }

  private typealias Reading = @Sendable (Bench) throws -> [String]

  private static let request: FetchRequest = {
    var request = FetchRequest(
      "Person", where: .comparison(.init(.keyPath(.evaluatedObject, ["age"]), .greaterThanOrEqual, .constant(0))))
    request.sortDescriptors = [SortDescriptor("department.name"), SortDescriptor("firstName")]
    return request
  }()

  private static func partly() throws -> FetchRequest {
    var request = request
    request.predicate = try Predicate(format: "age >= 0 AND fullName == NULL AND department.name != 'x'")
    request.sortDescriptors = [SortDescriptor("firstName", comparator: .localizedCompare)]
    return request
  }

  private static let readings: [(String, Reading)] = [
    ("fetch", { bench in try bench.context.fetch(request).map(bench.line) }),
    ("fetch judged by the context", { bench in try bench.context.fetch(partly()).map(bench.line) }),
    ("count", { bench in ["\(try bench.context.count(request)) \(try bench.context.count(partly()))"] }),
    (
      "IDs",
      { bench in
        try (bench.context.fetchIDs(request) + bench.context.fetchIDs(partly())).map {
          try bench.name(bench.context.object(with: $0))
        }
      }
    ),
    (
      "prefetching",
      { bench in
        var request = request
        request.relationshipKeyPathsForPrefetching = ["friends", "department.projects"]
        return try bench.context.fetch(request).map(bench.line)
      }
    ),
    (
      "a walk",
      { bench in
        var request = request
        request.fetchBatchSize = 2
        let found = try bench.context.fetchedObjects(request)
        let lines = try found.indices.map { try found.existingObject(at: $0).map(bench.line) ?? "-" }
        // `count` of a collection cannot throw: the context keeps the error.
        if let error = bench.context.drainAccessorErrors().first { throw error }
        return lines
      }
    ),
    (
      "dictionaries",
      { bench in
        var request = request
        request.propertiesToFetch = [
          FetchColumn("department", expression: try Expression(format: "department.name")),
          FetchColumn("oldest", expression: try Expression(format: "@max.age")),
        ]
        request.propertiesToGroupBy = ["department.name"]
        request.sortDescriptors = []
        return try bench.context.fetchDictionaries(request).map { "\($0.sorted { $0.key < $1.key })" }.sorted()
      }
    ),
    (
      "a refresh",
      { bench in
        let ada = try bench.named("ada")
        try bench.context.refresh(ada, mergeChanges: true)
        return [try bench.line(ada)]
      }
    ),
  ]

  @Test(arguments: StoreKind.withFolder, readings.indices)
  func aReadOfWhichAnyCallFailsLeavesAllAsItWas(_ kind: StoreKind, _ place: Int) throws {
    for changed in [false, true] { try eachCall(kind, changed: changed, atLeast: 2, Self.readings[place].1) }
  }
}
