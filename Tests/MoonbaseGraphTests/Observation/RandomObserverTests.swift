import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Random operations on fully observed objects: after each, the notified values equal the actual values.
@Suite struct RandomObserverTests {
  private struct Broken: Error {}

  private static func model() -> ManagedObjectModel {
    var model = People.modelWithGuests()
    model.entities[0].relationships.append(.toOne("partner", destination: "Person", inverse: "partner"))
    model.entities[0].relationships.append(.toMany("bookmarks", destination: "Project"))
    return model
  }

  /// The values an observer knows of one property. Objects stand for their IDs, which change.
  private final class Knowledge {
    let object: ManagedObject
    let key: String
    private var value: Value = .null
    private var others: [ObjectIdentifier] = []
    private var token: Observation?
    private unowned let world: World

    init(_ object: ManagedObject, _ key: String, in world: World) throws {
      (self.object, self.key, self.world) = (object, key, world)
      (value, others) = try now()
      token = try object.observe(key) { [unowned self] in take($0) }
    }

    private var isList: Bool { object.entity.property(key)?.relationship?.isToMany == true }

    private func take(_ change: ObservedChange) {
      guard isList else { return (value, others) = known(change.new) }
      let former = others
      for id in change.inserted {
        #expect(!former.contains(identity(id)), "\(key) had \(id)")
        others.append(identity(id))
      }
      for id in change.removed {
        #expect(former.contains(identity(id)), "\(key) had no \(id)")
        others.removeAll { $0 == identity(id) }
      }
      guard isOrdered else { return }
      let list = (change.new.list ?? []).compactMap { $0.objectID.map(identity) }
      #expect(Set(list) == Set(others) && list != former, "\(key) is as it was")
      others = list
    }

    private var isOrdered: Bool { object.entity.property(key)?.relationship?.isOrdered == true }

    private func now() throws -> (Value, [ObjectIdentifier]) {
      guard isList else { return known(try object.value(forKey: key)) }
      return (.null, try object.objectIDs(forRelationshipNamed: key).map(identity))
    }

    private func known(_ value: Value) -> (Value, [ObjectIdentifier]) {
      if let id = value.objectID { (.null, [identity(id)]) } else { (value, []) }
    }

    /// An object that left the context keeps its ID.
    private func identity(_ id: ManagedObjectID) -> ObjectIdentifier {
      let known = world.objects.first { $0.objectID == id } ?? object.managedObjectContext?.registeredObject(for: id)
      return known.map(ObjectIdentifier.init) ?? ObjectIdentifier(self)
    }

    var isTrue: Bool {
      guard let now = try? now() else { return false }
      return now.0.isSame(as: value) && (isOrdered ? now.1 == others : Set(now.1) == Set(others))
    }
  }

  private final class World {
    let bench: StoreBench
    let context: ManagedObjectContext
    var objects: [ManagedObject] = []
    var knowledge: [Knowledge] = []
    /// 1 while insertions fail, 2 while saves do.
    let mode = Switch()
    var random: SplitMix

    init(_ kind: StoreKind, seed: Int) throws {
      bench = try StoreBench(kind, RandomObserverTests.model())
      random = SplitMix(UInt64(seed))
      let mode = mode
      var entry = EntityExtension()
      entry.derived = [
        DerivedAttribute("fullName") { person in
          let name = try person.value(forKeyPath: "department.name").string ?? "-"
          let ages = try person.value(forKeyPath: "friends.@sum.age").int ?? 0
          return .string("\(try person.value(forKey: "firstName").string ?? "") \(name) \(ages)")
        }
      ]
      entry.stored = [
        DerivedAttribute("lastName", ownInputs: ["firstName"], get: { try $0.value(forKey: "firstName") })
      ]
      entry.awakeFromInsert = { if mode.value == 1 { try $0.setValue(7, forKey: "age"); throw Broken() } }
      entry.willSave = { object in
        guard !object.isDeleted else { return }
        if mode.value == 2 {
          try object.setObjects([], forKey: "friends")
          throw Broken()
        }
        if object["age"] == 3 { try object.setValue(4, forKey: "age") }
      }
      context = bench.context(["Person": [entry]])
      if seed.isMultiple(of: 2) { context.undoManager = UndoManager() }
      for entity in [
        "Department", "Department", "Person", "Person", "Person", "Employee", "Project", "Project", "Project",
      ] {
        try take(context.insert(entity))
      }
    }

    func take(_ object: ManagedObject) throws {
      objects.append(object)
      for property in object.entity.properties where !["color", "bounds", "born"].contains(property.name) {
        knowledge.append(try Knowledge(object, property.name, in: self))
      }
    }

    private func pick(_ entity: String) throws -> ManagedObject {
      let wanted = try context.entity(entity)
      let there = objects.filter { $0.managedObjectContext === context && $0.entity.isKind(of: wanted) }
      if !there.isEmpty { return there[random.next(there.count)] }
      let new = try context.insert(entity)
      try take(new)
      return new
    }

    func step(withOthers: Bool, isNested: Bool = false) throws {
      let (person, other) = (try pick("Person"), try pick("Person"))
      let (department, project) = (try pick("Department"), try pick("Project"))
      let any = [person, department, project][random.next(3)]
      let number = Value.int(Int64(random.next(5)))
      let text = Value.string(["a", "b", "c"][random.next(3)])
      switch random.next(isNested ? 20 : withOthers ? 31 : 28) {
      case 0: try? person.setValue(number, forKey: "age")
      case 1: try? person.setValue(text, forKey: "firstName")
      case 2: try? person.setPrimitiveValue(text, forKey: "firstName")
      case 3: try? department.setValue(text, forKey: "name")
      case 4: try? department.setValue(number, forKeyPath: "employees.age")
      case 5: try? person.setObject(random.next(3) == 0 ? nil : department, forKey: "department")
      case 6: try? person.setObject(random.next(3) == 0 ? nil : other, forKey: "partner")
      case 7: try? person.setObject(random.next(3) == 0 ? nil : department, forKey: "visits")
      case 8: try? person.add(other, to: "friends")
      case 9: try? person.remove(other, from: "friends")
      case 10: try? person.setObjects([other, person], forKey: "friends")
      case 11: try? department.mutableSetValue(forKey: "employees").formSymmetricDifference([person, other])
      case 12: try? department.remove(person, from: "employees")
      case 13: try? person.add(project, to: "bookmarks")
      case 14: try? department.mutableOrderedSetValue(forKey: "projects").insert(project, at: 0)
      case 15: try? department.setObjects(department.objects(forKey: "projects").reversed(), forKey: "projects")
      case 16: try? take(context.insert(["Person", "Employee", "Department", "Project"][random.next(4)]))
      case 17:
        mode.value = 1
        _ = try? context.insert("Person", values: ["department": .objectID(department.objectID), "age": "x"])
        mode.value = 0
      case 18: if random.next(3) == 0 { try? context.delete(any) }
      case 19: try? context.processPendingChanges()
      case 20, 21: try? context.save()
      case 22:
        mode.value = 2
        try? context.save()
        mode.value = 0
      case 23: try? context.rollback()
      case 24: try? context.refresh(any, mergeChanges: random.next(2) == 0)
      case 25:
        try? context.undoingOnFailure {
          for _ in 0..<6 { try step(withOthers: false, isNested: true) }
          throw Broken()
        }
      case 26: try? context.undoManager?.undo()
      case 27: try? context.undoManager?.redo()
      case 28: elsewhere(person, department, number)
      case 29: try? context.refresh(any, mergeChanges: true)
      default: try? context.refresh(any, mergeChanges: false)
      }
    }

    /// Another context changes and saves objects.
    private func elsewhere(_ person: ManagedObject, _ department: ManagedObject, _ number: Value) {
      guard !person.objectID.isTemporaryID, !department.objectID.isTemporaryID else { return }
      let other = bench.context()
      guard let same = try? other.existingObject(with: person.objectID) else { return }
      try? same.setValue(number, forKey: "age")
      if let place = try? other.existingObject(with: department.objectID) {
        try? same.setObject(place, forKey: "department")
        if random.next(2) == 0 {
          try? place.setObjects(place.objects(forKey: "projects").reversed(), forKey: "projects")
        }
      }
      try? other.save()
    }
  }

  private func run(_ kind: StoreKind, _ seed: Int, withOthers: Bool) throws {
    let world = try World(kind, seed: seed)
    for number in 0..<120 {
      try world.step(withOthers: withOthers)
      if withOthers {
        // Reading may load newer rows, which the next call reports.
        for known in world.knowledge { _ = known.isTrue }
        try? world.context.processPendingChanges()
      } else {
        // Lists and rows that were read at different times may contradict each other.
        #expect(world.context.brokenInvariants() == [], "step \(number)")
      }
      world.knowledge.removeAll { $0.object.managedObjectContext !== world.context }
      let wrong = world.knowledge.filter { !$0.isTrue }
      #expect(
        wrong.isEmpty, "step \(number): \(wrong.map { "\($0.object.entity.name).\($0.key)" }.joined(separator: ", "))")
      guard wrong.isEmpty else { return }
    }
  }

  @Test(arguments: StoreKind.allCases, 1...Repetition.observerSeeds.count)
  func observersKnowWhatIsThere(_ kind: StoreKind, _ seed: Int) throws { try run(kind, seed, withOthers: false) }

  @Test(arguments: StoreKind.allCases, 1...Repetition.observerSeeds.count)
  func observersLearnOfWhatOthersSaved(_ kind: StoreKind, _ seed: Int) throws { try run(kind, seed, withOthers: true) }

  /// A copy of the objects' values, updated by an observer that reads only the reported objects.
  private final class Copy {
    private var values: [ManagedObject: [String: [Value]]] = [:]
    private var token: ChangeObservation?
    private unowned let world: World
    /// Reports that contradict the copy.
    var excess: [String] = []

    init(of world: World) {
      self.world = world
      for object in world.objects { values[object] = state(object) }
      token = world.context.observeChanges { [unowned self] in take($0) }
    }

    private func take(_ change: ContextChange) {
      for object in change.deleted where values.removeValue(forKey: object) == nil { excess.append("\(object) went") }
      for object in change.inserted where values.updateValue(state(object), forKey: object) != nil {
        excess.append("\(object) came")
      }
      for object in change.updated + change.refreshed {
        if values.updateValue(state(object), forKey: object) == nil {
          excess.append("\(object) changed and was not there")
        }
      }
      let told = change.inserted + change.updated + change.deleted + change.refreshed
      if Set(told).count < told.count { excess.append("an object is told twice") }
    }

    private func state(_ object: ManagedObject) -> [String: [Value]] {
      var state: [String: [Value]] = [:]
      for property in object.entity.properties where !["color", "bounds", "born", "fullName"].contains(property.name) {
        state[property.name] = (try? read(property.name, of: object, isOrdered: property.relationship?.isOrdered)) ?? []
      }
      return state
    }

    /// Objects stand for their IDs, which change.
    private func read(_ key: String, of object: ManagedObject, isOrdered: Bool?) throws -> [Value] {
      guard isOrdered != nil else { return [try object.value(forKey: key)] }
      let numbers = try object.objectIDs(forRelationshipNamed: key).map { id in
        Value.int(Int64(world.objects.firstIndex { $0.objectID == id } ?? -1))
      }
      return isOrdered == true ? numbers : numbers.sorted { ($0.int ?? 0) < ($1.int ?? 0) }
    }

    /// Reads everything.
    func read() { for object in world.objects { _ = state(object) } }

    /// The differences between the copy and the objects.
    func differences() -> [String] {
      var found = excess
      for object in world.objects where object.managedObjectContext === world.context && !object.isDeleted {
        guard let known = values[object] else {
          found.append("\(object.objectID) is there")
          continue
        }
        for (key, value) in state(object) where value != known[key] {
          found.append("\(object.objectID).\(key) is \(value), not \(known[key] ?? [])")
        }
      }
      for object in values.keys where object.managedObjectContext !== world.context || object.isDeleted {
        found.append("\(object.objectID) is gone")
      }
      return found
    }
  }

  @Test(arguments: StoreKind.allCases, 1...Repetition.observerSeeds.count)
  func aReplayOfEventsIsWhatIsThere(_ kind: StoreKind, _ seed: Int) throws {
    try replay(kind, seed, withOthers: false)
  }

  @Test(arguments: StoreKind.allCases, 1...Repetition.observerSeeds.count)
  func aReplayOfEventsHasWhatOthersSaved(_ kind: StoreKind, _ seed: Int) throws {
    try replay(kind, seed, withOthers: true)
  }

  private func replay(_ kind: StoreKind, _ seed: Int, withOthers: Bool) throws {
    let world = try World(kind, seed: seed + 1_000)
    world.knowledge = []
    let copy = Copy(of: world)
    for number in 0..<120 {
      try world.step(withOthers: withOthers)
      world.knowledge = []
      // Reading may load newer rows, which the next event reports.
      if withOthers { copy.read() }
      try? world.context.processPendingChanges()
      let wrong = copy.differences()
      #expect(wrong.isEmpty, "step \(number): \(wrong.joined(separator: ", "))")
      guard wrong.isEmpty else { return }
    }
  }
}
