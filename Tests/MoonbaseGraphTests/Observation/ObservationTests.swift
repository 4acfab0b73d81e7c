import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Observing keys and objects, as key-value observing does in Core Data.
@Suite struct ObservationTests {
  /// The notifications of observers, in order.
  private final class Log {
    var lines: [String] = []

    func note(_ change: ObservedChange) {
      lines.append("\(change.key): \(Self.text(change.old)) -> \(Self.text(change.new))")
    }

    func noteMembers(_ change: ObservedChange) {
      lines.append("\(change.key): +\(change.inserted.count) -\(change.removed.count)")
    }

    func take() -> [String] {
      defer { lines = [] }
      return lines
    }

    private static func text(_ value: Value) -> String {
      switch value {
      case .null: "none"
      case .int(let number): "\(number)"
      case .string(let text): text
      case .objectID(let id): id.entityName
      case .list(let list): "\(list.count)"
      default: value.typeDescription
      }
    }
  }

  private func fullName(_ policy: DerivedAttribute.WritePolicy = .immediate) -> EntityExtension {
    var entry = EntityExtension()
    entry.derived = [
      DerivedAttribute(
        "fullName", writePolicy: policy,
        get: { person in
          let department = try person.value(forKeyPath: "department.name").string ?? "nowhere"
          return .string("\(try person.value(forKey: "firstName").string ?? "") of \(department)")
        },
        set: { value, person in
          let parts = (value.string ?? "").split(separator: " ").map(String.init)
          try person.setValue(.string(parts[0]), forKey: "firstName")
          try person.setValue(.string(parts[1]), forKey: "lastName")
        })
    ]
    return entry
  }

  @Test(arguments: StoreKind.allCases) func anObserverIsToldOldAndNew(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let log = Log()
    let person = try context.insert("Person", values: ["age": 1])
    let token = try person.observe("age") { log.note($0) }
    person["age"] = 2
    try person.setValue(3, forKey: "age")
    try person.setPrimitiveValue(4, forKey: "age")
    person["age"] = 4
    person["firstName"] = "Ann"
    #expect(log.take() == ["age: 1 -> 2", "age: 2 -> 3", "age: 3 -> 4"])
    try context.save()
    #expect(log.take() == [])
    person["age"] = 5
    #expect(log.take() == ["age: 4 -> 5"])
    try context.rollback()
    #expect(log.take() == ["age: 5 -> 4"])
    token.cancel()
    person["age"] = 6
    #expect(log.take() == [])
  }

  @Test(arguments: StoreKind.allCases) func anObservationEndsWithItsToken(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let log = Log()
    let person = try context.insert("Person")
    do {
      let token = try person.observe("age") { log.note($0) }
      person["age"] = 1
      withExtendedLifetime(token) {}
    }
    person["age"] = 2
    #expect(log.take() == ["age: 0 -> 1"])
    // The token keeps the object alive.
    try context.save()
    weak var fault: ManagedObject?
    var token: Observation?
    do {
      let other = try context.object(with: person.objectID)
      fault = other
      token = try other.observe("age") { log.note($0) }
    }
    #expect(fault != nil && token?.object === fault)
    token = nil
  }

  @Test(arguments: StoreKind.allCases) func dependentKeysAreToldOfTheirInputs(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [fullName()]])
    let log = Log()
    let department = try context.insert("Department", values: ["name": "Research"])
    let person = try context.insert(
      "Person", values: ["firstName": "Ann", "department": .objectID(department.objectID)])
    let token = try person.observe("fullName") { log.note($0) }
    person["firstName"] = "Bea"
    department["name"] = "Sales"
    person["lastName"] = "nobody asks for"
    try person.setObject(nil, forKey: "department")
    department["name"] = "Elsewhere"
    #expect(
      log.take() == [
        "fullName: Ann of Research -> Bea of Research", "fullName: Bea of Research -> Bea of Sales",
        "fullName: Bea of Sales -> Bea of nowhere",
      ])
    // An assignment sets two inputs and sends one notification.
    person["fullName"] = "Eve Q"
    #expect(log.take() == ["fullName: Bea of nowhere -> Eve of nowhere"])
    try context.save()
    #expect(log.take() == [])
    // Another context changes an input.
    let other = bench.context()
    try other.object(with: person.objectID).setValue("Zoe", forKey: "firstName")
    try other.save()
    try context.refresh(person, mergeChanges: true)
    #expect(log.take() == ["fullName: Eve of nowhere -> Zoe of nowhere"])
    withExtendedLifetime(token) {}
  }

  @Test(arguments: StoreKind.allCases) func whatAGetterAsksOfAFetchIsLookedAtAfterEachCall(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.derived = [
        DerivedAttribute(
          "fullName",
          get: { person in
            .int(Int64(try person.managedObjectContext?.count(FetchRequest("Department")) ?? 0))
          })
      ]
    }
    let log = Log()
    let person = try context.insert("Person")
    let token = try person.observe("fullName") { log.note($0) }
    try context.insert("Department")
    let other = try context.insert("Department")
    try context.delete(other)
    try context.processPendingChanges()
    #expect(log.take() == ["fullName: 0 -> 1", "fullName: 1 -> 2", "fullName: 2 -> 1"])
    token.cancel()
    try context.insert("Department")
    #expect(log.take() == [])
  }

  @Test(arguments: StoreKind.allCases) func bothSidesOfARelationshipAreTold(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let log = Log()
    let (one, two) = (try context.insert("Department"), try context.insert("Department"))
    let (ann, bob) = (try context.insert("Person"), try context.insert("Person"))
    let tokens = [
      try one.observe("employees") { log.noteMembers($0) }, try two.observe("employees") { log.noteMembers($0) },
      try ann.observe("department") { change in
        // Both sides of the relationship agree during a notification.
        let list = (try? one.objects(forKey: "employees").contains(ann)) ?? false
        #expect(list == (change.new == .objectID(one.objectID)))
        log.note(change)
      },
    ]
    try ann.setObject(one, forKey: "department")
    #expect(log.take().sorted() == ["department: none -> Department", "employees: +1 -0"])
    try two.setObjects([ann, bob], forKey: "employees")
    #expect(log.take().sorted() == ["department: Department -> Department", "employees: +0 -1", "employees: +2 -0"])
    try context.save()
    #expect(log.take() == [])
    try two.remove(ann, from: "employees")
    try two.add(ann, to: "employees")
    #expect(log.take().filter { $0.hasPrefix("employees") } == ["employees: +0 -1", "employees: +1 -0"])
    try context.delete(two)
    try context.processPendingChanges()
    #expect(log.take().contains("department: Department -> none"))
    withExtendedLifetime(tokens) {}
  }

  @Test(arguments: StoreKind.allCases) func anOrderedRelationshipTellsOfMoves(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let log = Log()
    let department = try context.insert("Department")
    let projects = try (0..<3).map { _ in try context.insert("Project") }
    try department.setObjects(projects, forKey: "projects")
    let token = try department.observe("projects") { change in
      log.noteMembers(change)
      #expect(change.old.list?.count == 3 && change.new.list?.count == 3)
    }
    try department.setObjects(projects.reversed(), forKey: "projects")
    #expect(log.take() == ["projects: +0 -0"])
    try department.setObjects(projects.reversed(), forKey: "projects")
    #expect(log.take() == [])
    withExtendedLifetime(token) {}
  }

  @Test(arguments: StoreKind.allCases) func whatHooksOfASaveChangeIsToldAfterIt(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.willSave = { person in
        let age = try person.value(forKey: "age").int ?? 0
        if age < 3 { try person.setValue(.int(age + 1), forKey: "age") }
      }
    }
    let log = Log()
    let person = try context.insert("Person")
    let token = try person.observe("age") { change in
      log.note(change)
      #expect(!context.hasChanges)
    }
    let friend = try context.insert("Person")
    let friends = try person.observe("friends") { change in
      log.noteMembers(change)
      #expect(change.inserted == [friend.objectID])
    }
    try person.add(friend, to: "friends")
    #expect(log.take() == ["friends: +1 -0"])
    try context.save()
    #expect(log.take() == ["age: 0 -> 3"])
    withExtendedLifetime((token, friends)) {}
  }

  @Test(arguments: StoreKind.allCases) func whatAFailedInsertionUndidIsNotTold(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let log = Log()
    let department = try context.insert("Department")
    let token = try department.observe("employees") { log.noteMembers($0) }
    #expect(throws: GraphError.self) {
      try context.insert("Person", values: ["department": .objectID(department.objectID), "age": "old"])
    }
    // Neither assignment sends a notification, whichever was set first.
    #expect(log.take() == [])
    #expect(try department.objects(forKey: "employees").isEmpty)
    withExtendedLifetime(token) {}
  }

  /// Undo and redo notify once they are complete, also for an object that was deleted in between.
  @Test(arguments: StoreKind.allCases) func observersFollowUndoAndRedo(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let undo = UndoManager()
    context.undoManager = undo
    let log = Log()
    let person = try context.insert("Person", values: ["age": 1])
    let department = try context.insert("Department")
    try context.save()
    let age = try person.observe("age") { log.note($0) }
    let employees = try department.observe("employees") { log.noteMembers($0) }
    person["age"] = 2
    try context.processPendingChanges()
    try person.setObject(department, forKey: "department")
    try context.processPendingChanges()
    #expect(log.take() == ["age: 1 -> 2", "employees: +1 -0"])
    try undo.undo()
    try undo.undo()
    try undo.redo()
    try undo.redo()
    #expect(log.take() == ["employees: +0 -1", "age: 2 -> 1", "age: 1 -> 2", "employees: +1 -0"])
    try context.save()
    try context.delete(person)
    try context.save()
    #expect(log.take() == ["employees: +0 -1"])
    try undo.undo()
    #expect(log.take() == ["employees: +1 -0"])
    person["age"] = 3
    #expect(log.take() == ["age: 2 -> 3"])
    // An object whose insertion was undone also sends notifications.
    try context.processPendingChanges()
    let other = try context.insert("Person")
    let token = try other.observe("age") { log.note($0) }
    try context.processPendingChanges()
    try undo.undo()
    try undo.redo()
    #expect(other.managedObjectContext === context)
    other["age"] = 4
    #expect(log.take() == ["age: 0 -> 4"])
    withExtendedLifetime((age, employees, token)) {}
  }

  @Test(arguments: StoreKind.allCases) func anObserverMayChangeObjects(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let log = Log()
    let person = try context.insert("Person")
    let first = try person.observe("firstName") {
      log.note($0); $0.object["lastName"] = $0.new
    }
    let last = try person.observe("lastName") { log.note($0) }
    person["firstName"] = "Ann"
    #expect(log.take() == ["firstName: none -> Ann", "lastName: none -> Ann"])
    // Observers that notify each other without end fail with an error.
    let age = try person.observe("age") { $0.object["age"] = .int(1 - ($0.new.int ?? 0)) }
    person["age"] = 1
    #expect(context.drainAccessorErrors().map { "\($0)" } == ["Person: its observers change it again and again"])
    withExtendedLifetime((first, last, age)) {}
  }

  @Test(arguments: StoreKind.allCases) func anObjectIsObservedAsAWhole(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let log = Log()
    let person = try context.insert("Person")
    let token = try person.observe { change in
      log.lines.append(change.keys.sorted().joined(separator: " ") + (change.isDeleted ? "deleted" : ""))
    }
    person["age"] = 1
    try person.setValuesForKeys(["firstName": "Ann", "lastName": "A"])
    let friend = try context.insert("Person")
    try friend.add(person, to: "friends")
    try context.save()
    #expect(log.take().sorted() == ["age", "firstName lastName", "friends"])
    try context.delete(person)
    try context.save()
    #expect(log.take().last?.hasSuffix("deleted") == true)
    withExtendedLifetime(token) {}
  }

  @Test(arguments: StoreKind.allCases) func aFetchThatReadsNewerRowsTells(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let log = Log()
    let person = try context.insert("Person", values: ["age": 1])
    try context.save()
    let token = try person.observe("age") { log.note($0) }
    let other = bench.context()
    try other.object(with: person.objectID).setValue(2, forKey: "age")
    try other.save()
    var request = FetchRequest("Person")
    #expect(try context.fetch(request) == [person] && log.take() == [])
    request.shouldRefreshRefetchedObjects = true
    #expect(try context.fetch(request) == [person] && log.take() == ["age: 1 -> 2"])
    withExtendedLifetime(token) {}
  }

  /// Unobserved objects take the fast path although other objects are observed, and send no notifications.
  @Test(arguments: StoreKind.allCases) func whatIsNotObservedIsToldToNobody(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let log = Log()
    let (ann, bob) = (try context.insert("Person"), try context.insert("Person"))
    let token = try ann.observe { log.lines += $0.keys }
    bob["age"] = 2
    try bob.setObject(context.insert("Department"), forKey: "department")
    try context.save()
    #expect(log.take() == [])
    withExtendedLifetime(token) {}
  }

  @Test(arguments: StoreKind.allCases) func whatCannotBeObservedIsAnError(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person")
    #expect { try person.observe("aeg") { _ in } } throws: { "\($0)".contains("Person has no property aeg") }
    #expect { try person.observe("department.name") { _ in } } throws: {
      "\($0)".contains("Person.department.name is a key path, and an observer follows one property of one object")
    }
    let token = try person.observe("age") { _ in Issue.record("the object is gone") }
    try context.rollback()
    #expect(throws: GraphError.self) { try person.observe("age") { _ in } }
    #expect(throws: GraphError.self) { try person.observe { _ in } }
    withExtendedLifetime(token) {}
  }

  @Test func aTokenOutlivesItsContext() throws {
    var token: Observation?
    do {
      let context = try StoreBench(.memory).context()
      token = try context.insert("Person").observe("age") { _ in }
    }
    token?.cancel()
    token = nil
  }

  @Test func manyDestinationsThatComeOneByOneCostWhatComes() throws {
    let bench = try StoreBench(.memory)
    let context = bench.context()
    let department = try context.insert("Department")
    var count = 0
    let token = try department.observe("employees") { count += $0.inserted.count }
    for _ in 0..<20_000 { try department.add(context.insert("Person"), to: "employees") }
    #expect(count == 20_000)
    withExtendedLifetime(token) {}
  }

  private enum OrderDoor: CaseIterable { case rollback, refresh, merge, keptRefresh, emptyMove }

  /// A department with three ordered projects sends one notification for each new order.
  @Test(arguments: StoreKind.allCases, OrderDoor.allCases)
  private func aNewOrderIsToldByWhicheverDoor(_ kind: StoreKind, _ door: OrderDoor) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let projects = try ["a", "b", "c"].map { try context.insert("Project", values: ["title": .string($0)]) }
    let office = try context.insert("Department")
    try office.setObjects(projects, forKey: "projects")
    try context.save()
    var told: [String] = []
    let token = try office.observe("projects") { change in
      let titles = try? office.objects(forKey: "projects").map { $0["title"].string ?? "" }.joined()
      told.append("\(titles ?? "?")+\(change.inserted.count)-\(change.removed.count)")
    }
    let list = try office.mutableOrderedSetValue(forKey: "projects")
    switch door {
    case .emptyMove:
      try context.changingTogether {
        try list.move(from: 0, to: 2)
        try list.move(from: 2, to: 0)
      }
      #expect(told == [])
    case .rollback:
      try list.move(from: 0, to: 2)
      try context.rollback()
      #expect(told == ["bca+0-0", "abc+0-0"])
    case .refresh:
      try list.move(from: 0, to: 2)
      try context.refresh(office, mergeChanges: false)
      #expect(told == ["bca+0-0", "abc+0-0"] && !context.hasChanges)
    case .merge, .keptRefresh:
      let other = bench.context()
      let same = try other.object(with: office.objectID)
      try same.setObjects(same.objects(forKey: "projects").reversed(), forKey: "projects")
      var saved: SavedObjectIDs?
      let observation = other.observeSaves(didSave: { saved = $0.objectIDs })
      try other.save()
      withExtendedLifetime(observation) {}
      if door == .merge {
        try context.mergeChanges(from: #require(saved))
      } else {
        try context.refresh(office, mergeChanges: true)
      }
      #expect(told == ["cba+0-0"])
    }
    withExtendedLifetime(token) {}
  }

  /// Members that `willSave` adds and `didSave` removes send no notification. By then new objects have permanent IDs,
  /// which the notifications use.
  @Test(arguments: StoreKind.allCases, ["employees", "projects"])
  func whoComesAndGoesWithinASaveIsNotTold(_ kind: StoreKind, _ key: String) throws {
    for stay in 0...2 {
      for (isOwnerFirst, setsAll) in [(false, false), (true, false), (false, true), (true, true)] {
        try comeAndGo(kind, key, stay: stay, isOwnerFirst: isOwnerFirst, setsAll: setsAll)
      }
    }
  }

  private func comeAndGo(_ kind: StoreKind, _ key: String, stay: Int, isOwnerFirst: Bool, setsAll: Bool) throws {
    let bench = try StoreBench(kind)
    var (came, isOn): ([ManagedObject], Bool) = ([], false)
    let context = bench.context(extending: "Department") { entry in
      func set(_ members: [ManagedObject], _ department: ManagedObject, _ change: (ManagedObject) throws -> Void) throws
      {
        if setsAll { try department.setObjects(members, forKey: key) } else { try came.forEach(change) }
      }
      entry.willSave = { department in
        if isOn { try set(came, department) { try department.add($0, to: key) } }
      }
      entry.didSave = { department in
        guard isOn else { return }
        isOn = false
        let kept = Array(came.prefix(stay))
        try set(kept, department) { if !kept.contains($0) { try department.remove($0, from: key) } }
      }
    }
    let entity = key == "employees" ? "Person" : "Project"
    let department = try context.insert("Department")
    let old = try context.insert(entity)
    try context.save()
    if isOwnerFirst { department["name"] = "x" }
    came = [try context.insert(entity), old]
    department["name"] = "y"
    var told: [[ManagedObjectID]] = []
    let token = try department.observe(key) { told.append($0.inserted + $0.removed) }
    isOn = true
    try context.save()
    #expect(told.map(Set.init) == (stay == 0 ? [] : [Set(came.prefix(stay).map(\.objectID))]))
    #expect(try Set(department.objects(forKey: key)) == Set(came.prefix(stay)))
    #expect(context.drainDidSaveErrors().isEmpty && context.brokenInvariants().isEmpty)
    withExtendedLifetime(token) {}
  }
}
