import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Random operations in groups, with undo, redo, saves that succeed and fail, refreshes and rollbacks between them.
///
/// The naive model is a list of what could be seen after each group, and a place in it.
@Suite struct RandomUndoManagerTests {
  private static func model() -> ManagedObjectModel {
    var model = People.modelWithGuests()
    model.entities[0].relationships.append(.toOne("partner", destination: "Person", inverse: "partner"))
    return model
  }

  private final class World {
    let bench: StoreBench
    let store: FailingStore
    let context: ManagedObjectContext
    let undo = UndoManager()
    private var objects: [ManagedObject] = []
    private var random: SplitMix
    /// What could be seen after each group, the place of what is to be seen now, and whether everything since a save is known.
    private var states: [[String]] = []
    private var place = 0
    private(set) var log: [String] = []

    init(_ kind: StoreKind, seed: Int) throws {
      (bench, store) = try StoreBench.failing(kind, model())
      random = SplitMix(UInt64(seed))
      context = bench.context()
      for entity in [
        "Department", "Department", "Person", "Person", "Employee", "Person", "Project", "Project", "Project",
      ] {
        objects.append(try context.insert(entity))
      }
      for _ in 0..<20 { change() }
      try context.save()
      context.undoManager = undo
      undo.levelsOfUndo = chance(3) ? 4 : 0
      states = [seen()]
    }

    private func chance(_ count: Int) -> Bool { random.next(count) == 0 }

    private func pick(_ entity: String) -> ManagedObject? {
      let there = objects.filter { object in
        object.managedObjectContext != nil
          && (object.entity.name == entity || entity == "Person" && object.entity.name == "Employee")
      }
      return there.isEmpty ? nil : there[random.next(there.count)]
    }

    /// One change. One that is refused, of a deleted object for example, changes nothing.
    private func change() {
      let text = Value.string(["a", "b", "c", "d"][random.next(4)])
      let (person, other) = (pick("Person"), pick("Person"))
      let (department, project) = (pick("Department"), pick("Project"))
      switch random.next(20) {
      case 0: try? person?.setValue(.int(Int64(random.next(4))), forKey: "age")
      case 1: try? person?.setValue(text, forKey: "firstName")
      case 2: try? person?.setValue(text, forKey: "fullName")
      case 3: try? project?.setValue(text, forKey: "title")
      case 4: try? person?.setObject(chance(3) ? nil : department, forKey: "department")
      case 5: try? person?.setObject(chance(3) ? nil : other, forKey: "partner")
      case 6: try? person?.setObject(chance(3) ? nil : department, forKey: "visits")
      case 7: if let other { try? person?.add(other, to: "friends") }
      case 8: if let other { try? person?.remove(other, from: "friends") }
      case 9: if let person { try? department?.add(person, to: "employees") }
      case 10: if let person { try? department?.remove(person, from: "employees") }
      case 11, 12: try? project?.setObject(chance(4) ? nil : department, forKey: "department")
      case 13: reorder(department)
      case 14:
        if let project, let department, let slot = department.entity.slot("projects") {
          let count = (try? department.memberCount(slot)) ?? 0
          try? department.insertMember(project.objectID, at: random.next(max(1, count)), slot: slot)
        }
      case 15, 16, 17: insert(friend: other, department: department)
      case 18: if let object = [person, department, project][random.next(3)] { try? context.delete(object) }
      default: if let object = [person, department, project][random.next(3)] { read(object) }
      }
    }

    private func insert(friend: ManagedObject?, department: ManagedObject?) {
      guard let object = try? context.insert(["Person", "Employee", "Department", "Project"][random.next(4)]) else {
        return
      }
      objects.append(object)
      if object.entity.name == "Project" { try? object.setObject(department, forKey: "department") }
      if let friend, object.entity.slot("friends") != nil { try? object.add(friend, to: "friends") }
    }

    private func reorder(_ department: ManagedObject?) {
      guard let list = try? department?.objects(forKey: "projects") else { return }
      try? department?.setObjects(list.shuffled(using: &random), forKey: "projects")
    }

    private func read(_ object: ManagedObject) {
      for property in object.entity.properties where chance(2) { _ = try? object.value(forKey: property.name) }
    }

    // MARK: What can be seen

    private func name(_ id: ManagedObjectID) -> String {
      objects.firstIndex { $0.objectID == id }.map { "#\($0)" } ?? "?"
    }

    private func text(_ object: ManagedObject, _ property: ResolvedProperty) -> String {
      if case .toMany = property.kind {
        // A deleted destination may be in a list until the save.
        guard let ids = try? object.memberIDs(property.slot) else { return "none" }
        let names = ids.filter { context.registeredObject(for: $0)?.isDeleted != true }.map(name)
        return (property.relationship?.isOrdered == true ? names : names.sorted()).joined(separator: " ")
      }
      guard let value = try? object.value(forKey: property.name) else { return "none" }
      if case .objectID(let id) = value { return name(id) }
      return "\(value)"
    }

    /// All objects that are there, with all they have.
    func seen() -> [String] {
      objects.enumerated().flatMap { number, object -> [String] in
        guard object.managedObjectContext != nil, !object.isDeleted else { return ["#\(number) is not there"] }
        return object.entity.properties.map { "#\(number).\($0.name): \(text(object, $0))" }
      }
    }

    /// Objects that came since a state was noted were not there then.
    private func expect(_ state: [String], _ title: String) {
      let now = seen()
      var wanted = Set(state)
      for (number, _) in objects.enumerated() where !state.contains(where: { $0.hasPrefix("#\(number).") }) {
        wanted.insert("#\(number) is not there")
      }
      let differences =
        now.filter { !wanted.contains($0) } + wanted.filter { !now.contains($0) }.sorted().map { "not \($0)" }
      #expect(
        differences.isEmpty, "\(title): \(differences.joined(separator: "; ")) after \(log.joined(separator: " "))")
      #expect(context.brokenInvariants() == [], "\(title) after \(log.joined(separator: " "))")
    }

    /// What is in the store is what is to be seen.
    private func expectSaved(_ title: String) throws {
      let other = bench.stranger()
      for object in objects where object.managedObjectContext != nil {
        let same = try other.object(with: object.objectID)
        for property in object.entity.properties where !property.isTransient {
          let (mine, theirs) = (text(object, property), text(same, property))
          #expect(
            mine == theirs,
            "\(title): \(name(object.objectID)).\(property.name) saved as \(theirs), not \(mine), after \(log.joined(separator: " "))"
          )
        }
      }
    }

    // MARK: Steps

    func step(_ title: String) throws {
      switch random.next(12) {
      case 0, 1, 2, 3: try group()
      case 4, 5: try goBack()
      case 6, 7: try goForth()
      case 8:
        log.append("save")
        try context.save()
        try expectSaved(title)
      case 9:
        log.append("fail")
        let isChanged = context.hasChanges
        store.fail(atCommit: true)
        do {
          try context.save()
          // There may be nothing to write.
        } catch {
          #expect(isChanged)
        }
        store.fail(atCommit: false)
      case 10:
        log.append("refresh")
        for object in objects where object.managedObjectContext != nil && chance(2) {
          try context.refresh(object, mergeChanges: true)
        }
      default:
        guard chance(3) else { return }
        log.append("rollback")
        try context.rollback()
        #expect(!undo.canUndo && !undo.canRedo)
        (states, place) = ([seen()], 0)
      }
      expect(states[place], title)
    }

    private func group() throws {
      log.append("group")
      for _ in 0...random.next(6) { change() }
      try context.processPendingChanges()
      states.removeSubrange((place + 1)...)
      let now = seen()
      // A deletion of a new object, for example, leaves nothing to undo.
      if undo.canRedo || now == states[place] {
        place = states.count - 1
        resynchronize()
      } else {
        states.append(now)
        place += 1
      }
    }

    /// What is the same as before may have made a group or not, and only the manager knows: the model begins anew.
    private func resynchronize() {
      undo.removeAllActions()
      (states, place) = ([seen()], 0)
    }

    private func goBack() throws {
      log.append("undo")
      guard undo.canUndo else { return #expect(place == 0 || undo.levelsOfUndo > 0) }
      try undo.undo()
      place -= 1
      #expect(place >= 0)
    }

    private func goForth() throws {
      log.append("redo")
      #expect(undo.canRedo == (place + 1 < states.count))
      guard undo.canRedo else { return }
      try undo.redo()
      place += 1
    }
  }

  @Test(arguments: StoreKind.allCases, 0..<4)
  func undoAndRedoLeadToWhatWasSeenBefore(_ kind: StoreKind, _ part: Int) throws {
    for seed in (part * 20)..<(part * 20 + 20) {
      let world = try World(kind, seed: seed)
      for step in 0..<30 { try world.step("seed \(seed), step \(step)") }
    }
  }
}
