import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph
@testable import MoonbaseFetchedResults

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Random changes, saves, merges and undo: applying a controller's notifications to the old list gives the new list,
/// which equals a fetch.
@Suite struct RandomFetchedResultsTests {
  private struct Broken: Error {}

  enum Kind: CaseIterable {
    case plain, sections, related, relatedSections, window, saved, derivedSections

    fileprivate var sectionPath: String? {
      switch self {
      case .sections: "lastName"
      case .relatedSections: "department.name"
      case .derivedSections: "fullName"
      case .plain, .related, .window, .saved: nil
      }
    }

    fileprivate func request() throws -> FetchRequest {
      var request = FetchRequest("Person")
      let keys: [String]
      switch self {
      case .plain, .saved: keys = ["age"]
      case .sections: keys = ["lastName", "-age"]
      case .related: keys = ["department.name", "lastName"]
      case .relatedSections: keys = ["department.name"]
      case .window: keys = ["-age"]
      case .derivedSections: keys = ["fullName"]
      }
      // A unique attribute, so that the order is total.
      request.sortDescriptors = (keys + ["boundsAsString"]).map(SortDescriptor.init(text:))
      switch self {
      case .plain, .sections: request.predicate = try Predicate(format: "age >= 2 AND lastName != 'd'")
      case .related: request.predicate = try Predicate(format: "ANY friends.age > 1 OR department.name == 'b'")
      case .window: (request.fetchOffset, request.fetchLimit) = (1, 5)
      case .saved: request.includesPendingChanges = false
      case .relatedSections, .derivedSections: break
      }
      return request
    }
  }

  private final class World {
    let bench: StoreBench
    let context: ManagedObjectContext
    let controller: FetchedResultsController<ManagedObject>
    let kind: Kind
    var rows: [[ManagedObjectID]] = []
    var people: [ManagedObject] = []
    var departments: [ManagedObject] = []
    var told = 0
    let fails = Switch()
    private var serial = 1000
    var random: SplitMix

    init(_ store: StoreKind, _ kind: Kind, seed: Int) throws {
      bench = try StoreBench(store)
      (self.kind, random) = (kind, SplitMix(UInt64(seed)))
      var entry = EntityExtension()
      entry.derived = [
        DerivedAttribute("fullName", ownInputs: ["lastName"]) { person in
          .string("\(try person.value(forKey: "lastName").string?.prefix(1) ?? "-")")
        }
      ]
      let fails = fails
      entry.willSave = { object in
        guard !object.isDeleted else { return }
        if object["age"] == 3 { try object.setValue(4, forKey: "age") }
        if fails.value == 1 {
          try object.setValue(5, forKey: "age")
          throw Broken()
        }
      }
      context = bench.context(["Person": [entry]])
      if seed.isMultiple(of: 2) { context.undoManager = UndoManager() }
      controller = try FetchedResultsController(
        kind.request(), in: context, sectionNameKeyPath: kind.sectionPath)
      for _ in 0..<3 { departments.append(try context.insert("Department")) }
      for _ in 0..<10 { try addPerson() }
      try context.save()
      try controller.performFetch()
      rows = controller.objectIDs
      controller.didChangeContent = { [unowned self] change in
        told += 1
        #expect(!change.isEmpty)
        change.apply(to: &rows)
      }
    }

    var number: Value { .int(Int64(random.next(6))) }
    var text: Value { random.next(6) == 0 ? .null : .string(["a", "b", "c", "d", "e"][random.next(5)]) }

    func addPerson() throws {
      serial += 1
      let person = try context.insert(
        random.next(4) == 0 ? "Employee" : "Person",
        values: ["age": number, "lastName": text, "boundsAsString": .string("\(serial)")])
      if random.next(2) == 0 { try person.setObject(departments.randomElement(using: &random), forKey: "department") }
      people.append(person)
    }

    func step() throws {
      people.removeAll { $0.managedObjectContext !== context }
      departments.removeAll { $0.managedObjectContext !== context || $0.isDeleted }
      if departments.isEmpty { departments.append(try context.insert("Department")) }
      if people.count < 4 { for _ in 0..<6 { try addPerson() } }
      let (person, other) = (people[random.next(people.count)], people[random.next(people.count)])
      let department = departments[random.next(departments.count)]
      switch random.next(26) {
      case 0, 1: try? person.setValue(number, forKey: "age")
      case 2, 3: try? person.setValue(text, forKey: "lastName")
      case 4: try? person.setPrimitiveValue(text, forKey: "lastName")
      case 5: try? department.setValue(text, forKey: "name")
      case 6: try? person.setObject(random.next(3) == 0 ? nil : department, forKey: "department")
      case 7: try? person.add(other, to: "friends")
      case 8: try? person.remove(other, from: "friends")
      case 9, 10: try addPerson()
      case 11: if random.next(2) == 0 { try? context.delete(person) }
      case 12: if random.next(3) == 0 { try? context.delete(department) }
      case 13, 14: try? context.save()
      case 15:
        fails.value = 1
        try? context.save()
        fails.value = 0
      case 16: if random.next(2) == 0 { try? context.rollback() }
      case 17: try? context.refresh(person, mergeChanges: random.next(2) == 0)
      case 18: try? context.undoManager?.undo()
      case 19: try? context.undoManager?.redo()
      case 20:
        _ = try? context.undoingOnFailure {
          for one in people.prefix(5) { try one.setValue(number, forKey: "age") }
          throw Broken()
        }
      case 21: try? department.setValue(number, forKeyPath: "employees.age")
      case 22: if random.next(4) == 0 { try context.reset() } else { try? context.refreshAllObjects() }
      case 23: try? context.obtainPermanentIDs(for: [person])
      default: try elsewhere(person)
      }
    }

    /// Another context changes a saved person, and this context merges the change.
    private func elsewhere(_ person: ManagedObject) throws {
      let other = bench.stranger()
      serial += 1
      try other.insert("Person", values: ["age": number, "lastName": text, "boundsAsString": .string("\(serial)")])
      let same =
        person.objectID.isTemporaryID ? nil : try other.existingObject(with: person.objectID)
      if let same {
        if random.next(5) == 0 { try other.delete(same) } else { try same.setValue(text, forKey: "lastName") }
      }
      try other.processPendingChanges()
      var saved: SavedObjectIDs?
      let (updated, deleted) = (other.updatedObjects.map(\.objectID), other.deletedObjects.map(\.objectID))
      let token = other.observeSaves(didSave: { save in
        saved = SavedObjectIDs(inserted: save.inserted.map(\.objectID), updated: updated, deleted: deleted)
      })
      try other.save()
      token.cancel()
      if let saved { try context.mergeChanges(from: saved) }
    }

    func check(_ step: Int) throws {
      try context.processPendingChanges()
      let fetched = try context.fetch(kind.request())
      var expected: [[ManagedObjectID]] = []
      var last: String?
      for object in fetched {
        let name = try kind.sectionPath.map { try object.value(forKeyPath: $0).string ?? "" } ?? ""
        if last != name { expected.append([]) }
        last = name
        expected[expected.count - 1].append(object.objectID)
      }
      #expect(context.pendingErrors.isEmpty, "step \(step): \(context.pendingErrors)")
      #expect(controller.objectIDs == expected, "step \(step): the list is not what a fetch finds")
      #expect(rows == controller.objectIDs, "step \(step): what was told does not lead to the list")
      #expect(controller.fetchedObjects.map { Array($0.objectIDs) } == expected.flatMap(\.self))
      for (section, ids) in expected.enumerated() {
        #expect(controller.sections[section].objects.map(\.objectID) == ids)
        for (item, id) in ids.enumerated() where item.isMultiple(of: 3) {
          let place = FetchedIndexPath(section: section, item: item)
          let object = controller.object(at: place)
          #expect(object.objectID == id)
          #expect(controller.indexPath(for: object) == place)
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases, Kind.allCases)
  func whatIsToldLeadsToWhatAFetchFinds(_ store: StoreKind, _ kind: Kind) throws {
    var told = 0
    for seed in 1...Repetition.resultSeeds.count {
      let world = try World(store, kind, seed: seed)
      for step in 0..<60 {
        try world.step()
        try world.check(step)
        guard world.rows == world.controller.objectIDs, world.context.pendingErrors.isEmpty else {
          Issue.record("\(store) \(kind), seed \(seed), step \(step)")
          return
        }
      }
      told += world.told
    }
    #expect(told > 10 * Repetition.resultSeeds.count)
  }
}
