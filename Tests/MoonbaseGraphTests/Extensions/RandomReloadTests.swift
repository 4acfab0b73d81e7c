import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph
@testable import MoonbaseFetchedResults

import struct MoonbaseModel.SortDescriptor

/// Extensions reloaded between changes, undo, child saves and notifications of a results controller.
@Suite struct RandomReloadTests {
  private struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  /// The extensions to reload to: how `label` is computed, if it exists, and how `shout` is written.
  private enum Generation: CaseIterable {
    case none, name, age, department, delayed, immediate, stored

    var extensions: [String: EntityExtension] {
      var person = EntityExtension()
      switch self {
      case .none: break
      case .name, .delayed, .immediate:
        person.derived.append(
          DerivedAttribute("label", type: .string, ownInputs: ["firstName"]) { try $0.value(forKey: "firstName") })
      case .age, .stored:
        person.derived.append(DerivedAttribute("label", type: .integer64) { try $0.value(forKey: "age") })
      case .department:
        person.derived.append(
          DerivedAttribute("label", type: .string, inputs: ["department.name"]) {
            try $0.value(forKeyPath: "department.name")
          })
      }
      if self == .delayed || self == .immediate {
        person.derived.append(
          DerivedAttribute(
            "shout", type: .string, ownInputs: ["firstName"], shadow: "firstName",
            writePolicy: self == .delayed ? .delayed : .immediate,
            get: { try $0.value(forKey: "firstName").string.map { .string($0.uppercased()) } ?? .null },
            set: { try $1.setValue($0.string.map { .string($0.lowercased()) } ?? .null, forKey: "firstName") }))
      }
      if self == .stored {
        person.stored.append(
          DerivedAttribute("lastName", ownInputs: ["firstName"]) {
            .string("of " + (try $0.value(forKey: "firstName").string ?? "nobody"))
          })
      }
      return ["Person": person]
    }

    /// The expected value of `label`; nil where the attribute does not exist.
    func label(of person: ManagedObject) throws -> Value? {
      switch self {
      case .none: nil
      case .name, .delayed, .immediate: try person.value(forKey: "firstName")
      case .age, .stored: try person.value(forKey: "age")
      case .department: try person.value(forKeyPath: "department.name")
      }
    }
  }

  private final class World {
    let bench: StoreBench
    let context: ManagedObjectContext
    let child: ManagedObjectContext
    let undo = UndoManager()
    let controller: FetchedResultsController<ManagedObject>
    let request: FetchRequest
    var generation = Generation.name
    var people: [ManagedObject] = []
    var departments: [ManagedObject] = []
    var rows: [[ManagedObjectID]] = []
    var random: SplitMix
    var serial = 0
    var log: [String] = []

    init(_ kind: StoreKind, seed: UInt64) throws {
      bench = try StoreBench(kind)
      random = SplitMix(seed)
      context = bench.context()
      child = ManagedObjectContext(parent: context)
      child.mergePolicy = .mergeByPropertyObjectTrump
      context.reload(generation.extensions)
      var request = FetchRequest("Person")
      request.sortDescriptors = [SortDescriptor("label"), SortDescriptor("boundsAsString")]
      self.request = request
      controller = try FetchedResultsController(request, in: context)
      for name in ["x", "y"] { departments.append(try context.insert("Department", values: ["name": .string(name)])) }
      for _ in 0..<6 { try addPerson() }
      try context.save()
      context.undoManager = undo
      try controller.performFetch()
      rows = controller.objectIDs
      controller.didChangeContent = { [unowned self] change in change.apply(to: &rows) }
    }

    var text: Value { .string(["a", "b", "c", "d"][random.next(4)]) }

    func addPerson() throws {
      serial += 1
      let person = try context.insert(
        "Person",
        values: ["firstName": text, "age": .int(Int64(random.next(9))), "boundsAsString": .string("\(1000 + serial)")])
      if random.next(2) == 0 { try person.setObject(departments[random.next(2)], forKey: "department") }
      people.append(person)
    }

    func want(_ holds: Bool, _ what: String) throws {
      if !holds { throw Broken(description: what) }
    }

    func note(_ words: String) { log.append(words) }

    func step() throws {
      people.removeAll { $0.managedObjectContext !== context || $0.isDeleted }
      if people.count < 3 { try addPerson() }
      let person = people[random.next(people.count)]
      let name = "\(person["boundsAsString"])"
      switch random.next(22) {
      case 0, 1, 2:
        generation = Generation.allCases[random.next(Generation.allCases.count)]
        note("reload \(generation)")
        context.reload(generation.extensions)
      case 3, 4:
        let value = text
        note("\(name).firstName = \(value)")
        try allowing { try person.setValue(value, forKey: "firstName") }
      case 5, 6:
        let value = Value.int(Int64(random.next(9)))
        note("\(name).age = \(value)")
        try person.setValue(value, forKey: "age")
      case 7, 8:
        let value = Value.string(["AA", "BB", "CC"][random.next(3)])
        note("\(name).shout = \(value)")
        try allowing { try person.setValue(value, forKey: "shout") }
      case 9:
        let department = departments[random.next(2)]
        note("\(name).department = \(department["name"])")
        try person.setObject(department, forKey: "department")
      case 10:
        note("insert")
        try addPerson()
      case 11:
        note("delete \(name)")
        try context.delete(person)
        try context.processPendingChanges()
      case 12, 13: try save(context, "save")
      case 14, 15:
        note("undo")
        try undo.undo()
      case 16:
        note("redo")
        try undo.redo()
      case 17:
        note("end of event")
        try context.processPendingChanges()
      case 18, 19:
        note("child changes \(name)")
        guard let other = try child.existingObject(with: person.objectID) else { return }
        try allowing { try other.setValue(text, forKey: random.next(2) == 0 ? "firstName" : "shout") }
        if random.next(2) == 0 { try save(child, "child save") }
      case 20:
        note("rollback")
        if random.next(3) == 0 { try context.rollback() } else { try child.rollback() }
      default:
        note("refresh \(name)")
        try context.refresh(person, mergeChanges: random.next(2) == 0)
      }
    }

    /// Permits the error for an attribute that is gone or whose shadow is not written yet.
    func allowing(_ body: () throws -> Void) throws {
      do { try body() } catch let error as GraphError where error.message.contains("shout") || error.property == "shout"
      {
        note("refused: \(error)")
      }
    }

    func save(_ context: ManagedObjectContext, _ words: String) throws {
      note(words)
      do { try context.save() } catch let error as GraphError
        where error.property == "shout" || "\(error)".contains("shout")
        || [.mergeConflict, .objectNotFound].contains(error.code)
      {
        note("refused: \(error)")
        try context.rollback()
      }
    }

    func check() throws {
      try want(context.brokenInvariants().isEmpty, "context: \(context.brokenInvariants())")
      try want(child.brokenInvariants().isEmpty, "child: \(child.brokenInvariants())")
      let errors = context.drainAccessorErrors() + child.drainAccessorErrors()
      if generation == .none {
        try want(errors.allSatisfy { "\($0)".contains("label") || "\($0)".contains("shout") }, "\(errors)")
        return
      }
      try want(errors.isEmpty, "\(errors)")
      for person in people where person.managedObjectContext === context && !person.isDeleted {
        let label = try person.value(forKey: "label")
        try want(try label == generation.label(of: person), "the label of \(person["boundsAsString"]) is \(label)")
        guard let other = child.registeredObject(for: person.objectID), !other.isDeleted else { continue }
        try want(try other.value(forKey: "label") == generation.label(of: other), "the child's label")
      }
      let found = try context.fetchIDs(request)
      try want(controller.objectIDs.flatMap(\.self) == found, "the list is not what a fetch finds")
      try want(rows.flatMap(\.self) == found, "what was told does not make the list")
    }
  }

  @Test(arguments: StoreKind.allCases) func allGoesOnWithEachGeneration(_ kind: StoreKind) throws {
    for seed in 0..<UInt64(Repetition.reloadSeeds.count) {
      let world = try World(kind, seed: seed)
      do {
        for _ in 0..<80 {
          try world.step()
          try world.check()
        }
      } catch {
        Issue.record("seed \(seed): \(error)\n\(world.log.joined(separator: "\n"))")
        return
      }
    }
  }
}
