import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Random operations within a savepoint that is then rolled back: all observable state equals that of a world without
/// them.
///
/// The naive model is that second world, which the same seed made in a store of its own up to the savepoint. So nothing
/// has to be read before the savepoint, and unread objects can be changed and undone too.
@Suite struct RandomUndoTests {
  private static func model() -> ManagedObjectModel {
    var model = People.modelWithGuests()
    model.entities[0].relationships.append(.toOne("partner", destination: "Person", inverse: "partner"))
    model.entities[0].relationships.append(.toMany("bookmarks", destination: "Project"))
    return model
  }

  private final class World {
    let bench: StoreBench
    let store: FailingStore
    /// 1 while insertions fail, 2 while saves do.
    let mode = Switch()
    private(set) var context: ManagedObjectContext
    private(set) var objects: [ManagedObject] = []
    private var random: SplitMix

    init(_ kind: StoreKind, seed: Int) throws {
      (bench, store) = try StoreBench.failing(kind, model())
      random = SplitMix(UInt64(seed))
      context = bench.context()
      try fill()
    }

    /// Inserts saved objects and makes unsaved changes; for every other seed a new context has faults of the saved
    /// objects.
    private func fill() throws {
      context = newContext()
      for _ in 0..<3 { objects.append(try context.insert("Department")) }
      for _ in 0..<5 { objects.append(try context.insert("Person")) }
      for _ in 0..<2 { objects.append(try context.insert("Employee")) }
      for _ in 0..<5 { objects.append(try context.insert("Project")) }
      for _ in 0..<30 { step(nested: 9) }
      try context.save()
      objects = objects.filter { $0.managedObjectContext != nil }
      if chance(2) {
        context = newContext()
        objects = try objects.map { try context.object(with: $0.objectID) }
      }
      if chance(4) { return }
      for _ in 0..<12 { step(nested: 9) }
    }

    private func newContext() -> ManagedObjectContext {
      let mode = mode
      var entry = EntityExtension()
      var bounds = DerivedAttribute(
        "bounds", ownInputs: ["boundsAsString"], writePolicy: .delayed, get: { try $0.value(forKey: "boundsAsString") })
      bounds.set = { value, object in try object.setPrimitiveValue(value, forKey: "boundsAsString") }
      entry.derived = [bounds]
      entry.stored = [
        DerivedAttribute("lastName", ownInputs: ["firstName"], get: { try $0.value(forKey: "firstName") })
      ]
      entry.awakeFromFetch = { try $0.setPrimitiveValue("awake", forKey: "fullName") }
      entry.awakeFromInsert = { object in
        // A refresh of an unchanged object is not undone; awaking with the same value hides that difference.
        try object.setPrimitiveValue("awake", forKey: "fullName")
        guard mode.value == 1 else { return }
        try RandomUndoTests.meddle(object)
        throw Broken()
      }
      entry.willSave = { object in
        guard mode.value == 2, !object.isDeleted else { return }
        mode.value = 0
        try RandomUndoTests.meddle(object)
      }
      return bench.context(["Person": [entry]])
    }

    private func chance(_ count: Int) -> Bool { random.next(count) == 0 }

    private func pick(_ entity: String) -> ManagedObject? {
      let there = objects.filter { $0.managedObjectContext != nil && $0.entity.isKind(named: entity) }
      return there.isEmpty ? nil : there[random.next(there.count)]
    }

    func steps() { for _ in 0..<40 { step(nested: 0) } }

    /// Performs one operation. A refused operation, for example on a deleted object, changes nothing.
    private func step(nested: Int) {
      let (person, other) = (pick("Person"), pick("Person"))
      let (department, project) = (pick("Department"), pick("Project"))
      guard let person, let other, let department, let project else { return }
      let number = Value.int(Int64(random.next(4)))
      let text = Value.string(["a", "b", "c", "d"][random.next(4)])
      let any = [person, department, project][random.next(3)]
      let key = ["firstName", "boundsAsString", "fullName", "email"][random.next(3)]
      switch random.next(nested < 3 ? 34 : 23) {
      case 0: try? person.setValue(number, forKey: "age")
      case 1: try? person.setValue(text, forKey: key)
      case 2: try? person.setPrimitiveValue(text, forKey: key)
      case 3: try? person.setValue(text, forKey: "bounds")
      case 4: try? project.setValue(text, forKey: "title")
      case 5: try? person.setObject(chance(3) ? nil : department, forKey: "department")
      case 6: try? person.setObject(chance(3) ? nil : other, forKey: "partner")
      case 7: try? person.setObject(chance(3) ? nil : department, forKey: "visits")
      case 8: try? person.add(other, to: "friends")
      case 9: try? person.remove(other, from: "friends")
      case 10: try? department.add(person, to: "employees")
      case 11: try? department.remove(person, from: "employees")
      case 12: try? person.add(project, to: "bookmarks")
      case 13: try? person.remove(project, from: "bookmarks")
      case 14: try? project.setObject(chance(4) ? nil : department, forKey: "department")
      case 15: reorder(department)
      case 16: insertInto(department, project)
      case 17: try? department.remove(project, from: "projects")
      case 18: insert(["Person", "Employee", "Department", "Project"][random.next(4)], friend: other)
      case 19: if chance(2) { try? context.delete(any) }
      case 20: if chance(2) { try? context.processPendingChanges() }
      case 21: read(any)
      case 22:
        try? person.setPrimitiveValue(number, forKey: "age")
        try? person.didChangeValue(forKey: "age")
      case 23, 24: try? context.refresh(any, mergeChanges: true)
      case 25, 26: try? context.refresh(any, mergeChanges: false)
      case 27: _ = try? context.fetch(FetchRequest("Person", where: "firstName == 'a' OR friends.@count > 1"))
      case 28: failInsertion()
      case 29: failSave()
      default: nest(nested + 1)
      }
    }

    private func nest(_ depth: Int) {
      let fails = chance(2)
      try? context.undoingOnFailure {
        for _ in 0..<random.next(10) { step(nested: depth) }
        if fails { throw Broken() }
      }
      #expect(context.brokenInvariants() == [])
    }

    private func insert(_ entity: String, friend: ManagedObject) {
      let isPerson = entity == "Person" || entity == "Employee"
      let values: [String: Value] = isPerson ? ["friends": .list([.objectID(friend.objectID)])] : [:]
      if let object = try? context.insert(entity, values: chance(2) ? values : [:]) { objects.append(object) }
    }

    private func reorder(_ department: ManagedObject) {
      guard let list = try? department.objects(forKey: "projects") else { return }
      try? department.setObjects(list.shuffled(using: &random), forKey: "projects")
    }

    private func insertInto(_ department: ManagedObject, _ project: ManagedObject) {
      guard let slot = department.entity.slot("projects"), let count = try? department.memberCount(slot) else { return }
      let position = random.next(count + 1)
      let isThere = (try? department.hasMember(project.objectID, slot: slot)) == true
      try? department.insertMember(project.objectID, at: isThere ? min(position, count - 1) : position, slot: slot)
    }

    private func read(_ object: ManagedObject) {
      for property in object.entity.properties where chance(2) { _ = try? object.value(forKey: property.name) }
    }

    private func failInsertion() {
      mode.value = 1
      defer { mode.value = 0 }
      #expect(throws: (any Error).self) { try context.insert("Person") }
    }

    private func failSave() {
      // Makes sure that the save has something to write.
      _ = try? context.insert("Project")
      mode.value = chance(2) ? 2 : 0
      store.fail(atCommit: true)
      #expect(throws: (any Error).self) { try context.save() }
      store.fail(atCommit: false)
      mode.value = 0
    }

    // MARK: What can be seen

    private func name(_ id: ManagedObjectID) -> String {
      objects.firstIndex { $0.objectID == id }.map { "#\($0)" } ?? "?"
    }

    private func text(_ value: Value) -> String {
      if case .objectID(let id) = value { return name(id) }
      return "\(value)"
    }

    private func members(_ object: ManagedObject, _ property: ResolvedProperty) -> String {
      guard let ids = try? object.memberIDs(property.slot) else { return "none" }
      let names = ids.map(name)
      return (property.relationship?.isOrdered == true ? names : names.sorted()).joined(separator: " ")
    }

    /// The first `count` objects and the change lists, sorted unless `inOrder`.
    func description(of count: Int, inOrder: Bool = true) -> [String] {
      func list(_ title: String, _ objects: [ManagedObject]) -> String {
        let names = objects.map { name($0.objectID) }
        return "\(title): \((inOrder ? names : names.sorted()).joined(separator: " "))"
      }
      var lines = ["changes: \(context.hasChanges)", list("inserted", context.insertedObjects)]
      lines += [list("updated", context.updatedObjects), list("deleted", context.deletedObjects)]
      for (number, object) in objects.prefix(count).enumerated() {
        lines.append(
          "#\(number) \(object.managedObjectContext != nil) \(object.isInserted) \(object.isUpdated) \(object.isDeleted) \(object.awaitsSave)"
        )
        guard object.managedObjectContext != nil else { continue }
        let changed = (try? object.changedValues().keys.sorted()) ?? []
        lines.append("#\(number) changed: \(changed.joined(separator: " "))")
      }
      for (number, object) in objects.prefix(count).enumerated() where object.managedObjectContext != nil {
        for property in object.entity.properties {
          if case .toMany = property.kind {
            lines.append("#\(number).\(property.name): \(members(object, property))")
          } else {
            lines.append("#\(number).\(property.name): \(text((try? object.value(forKey: property.name)) ?? "none"))")
          }
        }
      }
      return lines
    }

    /// The rows that a save writes.
    func saved(_ count: Int) -> [String] {
      let failure: String
      do {
        try context.save()
        failure = "none"
      } catch {
        failure = "\((error as? GraphError)?.code.rawValue ?? 0)"
      }
      context = bench.stranger()
      objects = objects.prefix(count).compactMap { try? context.object(with: $0.objectID) }
      return [failure] + description(of: objects.count)
    }
  }

  /// A hook that makes random changes.
  private static func meddle(_ object: ManagedObject) throws {
    guard let context = object.managedObjectContext else { return }
    try context.disturbProjects()
    let people = try context.fetch(FetchRequest("Person")).filter { $0 !== object }
    if let person = people.first {
      try object.add(person, to: "friends")
      try object.setObject(person, forKey: "partner")
      try person.setPrimitiveValue(99, forKey: "age")
      try person.setValue("by a hook", forKey: "bounds")
    }
    if let person = people.last, person !== people.first { try context.delete(person) }
    if people.count < 12 { try context.insert("Employee", values: ["friends": .list([.objectID(object.objectID)])]) }
  }

  private func expectEqual(_ found: [String], _ wanted: [String], _ title: String) {
    let differences = zip(found, wanted).filter { $0 != $1 }.map { "\($0), not \($1)" }
    #expect(found.count == wanted.count && differences.isEmpty, "\(title): \(differences.joined(separator: "; "))")
  }

  @Test(arguments: StoreKind.allCases, 0..<4)
  func whatIsUndoneNeverHappened(_ kind: StoreKind, _ part: Int) throws {
    for seed in stride(from: part, to: Repetition.undoSeeds.count, by: 4) {
      let (untouched, world) = (try World(kind, seed: seed), try World(kind, seed: seed))
      let count = world.objects.count
      let held = world.context.memory.weight
      #expect(throws: Broken.self) {
        try world.context.undoingOnFailure {
          world.steps()
          throw Broken()
        }
      }
      #expect(world.context.brokenInvariants() == [] && world.context.journal.count == 0, "seed \(seed)")
      #expect(world.context.memory.weight - held < 100_000, "seed \(seed)")
      expectEqual(world.description(of: count), untouched.description(of: count), "seed \(seed)")
      #expect(world.context.brokenInvariants() == [], "seed \(seed)")
      expectEqual(world.saved(count), untouched.saved(count), "seed \(seed), saved")
    }
  }

  /// Undoing is itself a change that can be undone: undo and redo end in the initial state.
  @Test(arguments: StoreKind.allCases, 0..<4)
  func whatIsUndoneCanBeDoneAgain(_ kind: StoreKind, _ part: Int) throws {
    for seed in stride(from: part, to: Repetition.undoSeeds.count, by: 4) {
      let (straight, world) = (try World(kind, seed: seed), try World(kind, seed: seed))
      for one in [straight, world] {
        let context = one.context
        let savepoint = context.journal.begin()
        one.steps()
        if one === world {
          for _ in 0..<2 {
            var readings = NewerReads()
            let back = context.journal.removeChanges(since: savepoint).compactMap {
              context.revert($0, noting: &readings)
            }
            #expect(context.brokenInvariants() == [], "seed \(seed), undone")
            for change in back.reversed() {
              if let forth = context.revert(change, noting: &readings) { context.journal.append(forth) }
            }
            #expect(context.brokenInvariants() == [], "seed \(seed), done again")
          }
        }
        context.endSavepoint(savepoint)
      }
      let count = world.objects.count
      expectEqual(
        world.description(of: count, inOrder: false), straight.description(of: count, inOrder: false), "seed \(seed)")
      #expect(world.context.brokenInvariants() == [], "seed \(seed)")
    }
  }
}

extension ResolvedEntity {
  fileprivate func isKind(named name: String) -> Bool {
    self.name == name || name == "Person" && self.name == "Employee"
  }
}
