import MoonbaseGraph
import MoonbaseFetchedResults
import MoonbaseModel
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Fetched results that follow their context.
@Suite struct FetchedResultsControllerTests {
  private typealias Place = FetchedIndexPath

  /// People by last name, in sections, with the notifications of the controller.
  private final class Table {
    let bench: StoreBench
    let context: ManagedObjectContext
    let controller: FetchedResultsController<ManagedObject>
    var people: [String: ManagedObject] = [:]
    var told: [FetchedResultsChange] = []

    init(_ kind: StoreKind, _ people: KeyValuePairs<String, String>, section: String? = "lastName") throws {
      bench = try StoreBench(kind)
      context = bench.context()
      var request = FetchRequest("Person", where: try Predicate(format: "age < 100"))
      request.sortDescriptors = [SortDescriptor("lastName"), SortDescriptor("firstName")]
      controller = try FetchedResultsController(request, in: context, sectionNameKeyPath: section)
      for (first, last) in people { try add(first, last) }
      try context.save()
      try controller.performFetch()
      controller.didChangeContent = { [unowned self] in told.append($0) }
    }

    @discardableResult func add(_ first: String, _ last: String) throws -> ManagedObject {
      let person = try context.insert("Person", values: ["firstName": .string(first), "lastName": .string(last)])
      people[first] = person
      return person
    }

    subscript(first: String) -> ManagedObject {
      get throws { try #require(people[first]) }
    }

    var last: FetchedResultsChange {
      get throws { try #require(told.last) }
    }

    var text: String {
      controller.sections.map { section in
        "\(section.name): " + section.objects.map { $0["firstName"].string ?? "" }.joined(separator: " ")
      }.joined(separator: ", ")
    }
  }

  @Test(arguments: StoreKind.allCases) func aFetchDividesObjectsIntoSections(_ kind: StoreKind) throws {
    let table = try Table(kind, ["bo": "x", "al": "x", "cy": "Young"])
    #expect(table.text == "Young: cy, x: al bo")
    #expect(table.controller.sectionIndexTitles == ["Y", "X"])
    #expect(table.controller.section(forSectionIndexTitle: "X") == 1)
    #expect(table.controller.sections.map(\.numberOfObjects) == [1, 2])
    #expect(try table.controller.object(at: Place(section: 1, item: 1)) === table["bo"])
    #expect(try table.controller.indexPath(for: table["bo"]) == Place(section: 1, item: 1))
  }

  @Test(arguments: StoreKind.allCases) func beforeTheFirstFetchThereIsNothing(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor("age")]
    let controller = try FetchedResultsController<ManagedObject>(request, in: bench.context())
    #expect(controller.fetchedObjects == nil && controller.sections.isEmpty && controller.count == 0)
    try controller.performFetch()
    #expect(controller.fetchedObjects?.isEmpty == true && controller.sections.isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func anInsertionIsToldWithItsPlace(_ kind: StoreKind) throws {
    let table = try Table(kind, ["al": "x", "cy": "x"])
    let new = try table.context.insert("Person", values: ["firstName": "bo", "lastName": "x"])
    #expect(table.told.count == 1)
    #expect(try table.last.objects == [.insert(new.objectID, at: Place(section: 0, item: 1))])
    #expect(table.text == "x: al bo cy")
    let id = new.objectID
    try table.context.save()
    #expect(new.objectID != id)
    let place = Place(section: 0, item: 1)
    #expect(try table.last.objects == [.update(new.objectID, at: place, now: place)])
  }

  @Test(arguments: StoreKind.allCases) func sectionsComeAndGo(_ kind: StoreKind) throws {
    let table = try Table(kind, ["al": "x", "cy": "z"])
    let bo = try table.add("bo", "y")
    // Inserted without a name at first.
    #expect(table.text == "x: al, y: bo, z: cy")
    #expect(table.told.map(\.insertedSections) == [[1]])
    try table.context.delete(try table["al"])
    #expect(try table.last.deletedSections == [0])
    #expect(try table.last.objects == [.delete(table["al"].objectID, from: Place(section: 0, item: 0))])
    try bo.setValue("z", forKey: "lastName")
    #expect(try table.last.deletedSections == [0])
    #expect(
      try table.last.objects == [
        .move(bo.objectID, from: Place(section: 0, item: 0), to: Place(section: 0, item: 0))
      ])
    #expect(table.text == "z: bo cy")
  }

  @Test(arguments: StoreKind.allCases) func aSectionThatIsRenamedIsAnotherOne(_ kind: StoreKind) throws {
    let table = try Table(kind, ["al": "x", "cy": "z"])
    try table["al"].setValue("y", forKey: "lastName")
    let first = Place(section: 0, item: 0)
    #expect(try table.last.deletedSections == [0] && table.last.insertedSections == [0])
    #expect(try table.last.objects == [.move(table["al"].objectID, from: first, to: first)])
  }

  @Test(arguments: StoreKind.allCases) func movesAndUpdatesAreToldApart(_ kind: StoreKind) throws {
    let table = try Table(kind, ["al": "x", "bo": "x", "cy": "x"])
    let (al, bo) = (try table["al"], try table["bo"])
    try al.setValue("dy", forKey: "firstName")
    #expect(
      try table.last.objects == [
        .move(al.objectID, from: Place(section: 0, item: 0), to: Place(section: 0, item: 2))
      ])
    try bo.setValue(7, forKey: "age")
    let first = Place(section: 0, item: 0)
    #expect(try table.last.objects == [.update(bo.objectID, at: first, now: first)])
    try bo.setValue(100, forKey: "age")
    #expect(try table.last.objects == [.delete(bo.objectID, from: first)])
    try bo.setValue(100, forKey: "age")
    try bo.setValue(101, forKey: "age")
    #expect(table.told.count == 3)
  }

  @Test(arguments: StoreKind.allCases) func oneCallIsToldAtOnce(_ kind: StoreKind) throws {
    let table = try Table(kind, ["al": "x", "bo": "y", "cy": "y"])
    try table.context.delete(try table["cy"])
    try table["al"].setValue(5, forKey: "age")
    try table.add("di", "z")
    table.told = []
    try table.context.rollback()
    #expect(table.told.count == 1)
    #expect(try table.last.deletedSections == [2])
    #expect(try table.last.objects.count == 3)
    #expect(table.text == "x: al, y: bo cy")
  }

  @Test(arguments: StoreKind.allCases) func itFollowsWhatIsMerged(_ kind: StoreKind) throws {
    let table = try Table(kind, ["al": "x", "bo": "x"])
    table.context.automaticallyMergesChangesFromParent = true
    let other = table.bench.context()
    try other.insert("Person", values: ["firstName": "cy", "lastName": "x"])
    try other.existingObject(with: table["al"].objectID)?.setValue("y", forKey: "lastName")
    try other.save()
    #expect(table.told.isEmpty)
    try table.context.processPendingChanges()
    #expect(table.text == "x: bo cy, y: al")
    #expect(table.told.count == 1)
  }

  @Test(arguments: StoreKind.allCases) func whoIsToldMayChangeObjects(_ kind: StoreKind) throws {
    let table = try Table(kind, ["al": "x", "bo": "x"])
    let bo = try table["bo"]
    table.controller.didChangeContent = { change in
      table.told.append(change)
      if bo["lastName"] == "x" { try? bo.setValue("y", forKey: "lastName") }
    }
    try table["al"].setValue(3, forKey: "age")
    #expect(table.told.count == 2 && table.text == "x: al, y: bo")
    table.controller.didChangeContent = { _ in bo["age"] = .int(((bo["age"].int ?? 0) + 1) % 50) }
    try table["al"].setValue(4, forKey: "age")
    #expect(table.context.drainAccessorErrors().count == 1)
  }

  @Test(arguments: StoreKind.allCases) func sectionsOutOfOrderAreAnError(_ kind: StoreKind) throws {
    let table = try Table(kind, ["al": "x", "bo": "y", "cy": "y"])
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor("firstName")]
    let controller = try FetchedResultsController<ManagedObject>(
      request, in: table.context, sectionNameKeyPath: "lastName")
    try controller.performFetch()
    var count = 0
    controller.didChangeContent = { _ in count += 1 }
    try table["cy"].setValue("x", forKey: "lastName")
    let error = try #require(table.context.drainAccessorErrors().first as? GraphError)
    #expect(error.message.hasPrefix("Person: the section x begins a second time at place 2: sort by what lastName"))
    #expect(count == 0 && controller.sections.map(\.name) == ["x", "y"])
    #expect(throws: GraphError.self) { try controller.performFetch() }
    try table["cy"].setValue("z", forKey: "lastName")
    #expect(count == 1 && controller.sections.map(\.name) == ["x", "y", "z"])
    #expect(table.context.pendingErrors.isEmpty)
  }

  /// The store sorts by values of saves that the context has not merged, while its objects show the values before.
  @Test func sectionsOverAPathWaitForTheMergeOfLaterSaves() throws {
    var person = EntityDescription("Person")
    person.attributes = [AttributeDescription("age", type: .integer64)]
    person.relationships = [
      .toOne("boss", destination: "Person", inverse: "staff"), .toMany("staff", destination: "Person", inverse: "boss"),
    ]
    let model = try ManagedObjectModel(entities: [person]).resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(InMemoryStore(model: model))
    let (context, other) = (try ManagedObjectContext(coordinator), try ManagedObjectContext(coordinator))
    let bosses = try [1, 2, 3].map { try context.insert("Person", values: ["age": .int($0)]) }
    for number in 0..<9 {
      let one = try context.insert("Person", values: ["age": .int(Int64(10 + number))])
      try one.setObject(bosses[number % 3], forKey: "boss")
    }
    try context.save()
    context.automaticallyMergesChangesFromParent = true
    var request = FetchRequest("Person", where: try Predicate(format: "boss != NIL"))
    request.sortDescriptors = [SortDescriptor("boss.age"), SortDescriptor("age")]
    let controller = try FetchedResultsController<ManagedObject>(
      request, in: context, sectionNameKeyPath: "boss.age")
    try controller.performFetch()
    var failures = 0
    controller.didFail = { _ in failures += 1 }
    for ages in [[1, 2, 3], [5, 2, 3], [5, 7, 3], [5, 7, 6], [9, 7, 6]] {
      for (boss, age) in zip(bosses, ages) {
        try other.object(with: boss.objectID).setValue(.int(Int64(age)), forKey: "age")
        for one in try other.object(with: boss.objectID).objects(forKey: "staff") {
          try one.setValue(.int((one["age"].int ?? 0) + 1), forKey: "age")
        }
      }
      try other.save()
    }
    context.mergeArrivedSaves()
    #expect(failures == 0 && controller.failure == nil && context.pendingErrors.isEmpty)
    #expect(controller.sections.map(\.name) == ["6", "7", "9"])
    #expect(controller.sections.map(\.numberOfObjects) == [3, 3, 3])
  }

  @Test(arguments: StoreKind.allCases) func whatItCannotDoIsRefused(_ kind: StoreKind) throws {
    let context = try StoreBench(kind).context()
    let unsorted = try FetchedResultsController<ManagedObject>(FetchRequest("Person"), in: context)
    #expect(throws: GraphError.self) { try unsorted.performFetch() }
    #expect(throws: GraphError.self) { try FetchedResultsController<ManagedObject>(FetchRequest("Persn"), in: context) }
  }

  @Test(arguments: StoreKind.allCases) func oneThatIsGoneIsNotTold(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor("age")]
    var count = 0
    do {
      let controller = try FetchedResultsController<ManagedObject>(request, in: context)
      try controller.performFetch()
      controller.didChangeContent = { _ in count += 1 }
      try context.insert("Person")
      withExtendedLifetime(controller) {}
    }
    try context.insert("Person")
    #expect(count == 1)
  }

  /// With sixteen times as many objects, a change costs hardly more.
  @Test(arguments: StoreKind.allCases) func aChangeCostsWhatItChanges(_ kind: StoreKind) throws {
    func work(_ count: Int) throws -> Int {
      let bench = try StoreBench(kind)
      let context = bench.context()
      for number in 0..<count {
        try context.insert("Person", values: ["age": .int(Int64(number * 100 / count)), "firstName": "a"])
      }
      try context.save()
      var request = FetchRequest("Person")
      request.sortDescriptors = [SortDescriptor("age")]
      let controller = try FetchedResultsController<ManagedObject>(request, in: context, sectionNameKeyPath: "age")
      try controller.performFetch()
      let object = controller.object(at: FetchedIndexPath(section: 3, item: 0))
      var told = 0
      controller.didChangeContent = { told += $0.objects.count }
      let units = try HostWorkMeter.units {
        for age in [50, 3, 90, 20] { try object.setValue(.int(Int64(age)), forKey: "age") }
        try context.delete(object)
      }
      #expect(told == 5)
      return units
    }
    // A change compares about fourteen rows, which may have to be read.
    #expect(try work(1000) < 500)
    #expect(try work(16_000) < 1000)
  }
}
