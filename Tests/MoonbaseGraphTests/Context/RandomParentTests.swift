import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Random operations in a child or grandchild context give the same result as in a single context.
@Suite struct RandomParentTests {
  private static let departments = 3
  private static let others = 8

  /// Departments, people and projects by name, in a context that may have parents.
  private final class World {
    let bench: StoreBench
    /// The contexts from the youngest child to the root; the root saves into the store.
    let contexts: [ManagedObjectContext]
    var objects: [String: ManagedObject] = [:]
    var context: ManagedObjectContext { contexts[0] }

    init(_ kind: StoreKind, generations: Int) throws {
      bench = try StoreBench(kind)
      var contexts = [bench.context()]
      for _ in 0..<generations { contexts.insert(ManagedObjectContext(parent: contexts[0]), at: 0) }
      self.contexts = contexts
    }

    /// Returns the object with a name and inserts one where none exists.
    func object(_ name: String) throws -> ManagedObject {
      if let known = objects[name], known.managedObjectContext != nil, !known.isDeleted { return known }
      let (entity, key) =
        switch name.first {
        case "d": ("Department", "name")
        case "r": ("Project", "title")
        default: ("Person", "firstName")
        }
      let new = try context.insert(entity, values: [key: .string(name)])
      objects[name] = new
      return new
    }

    func save(_ count: Int) throws {
      for context in contexts.prefix(count) { try context.save() }
      for context in contexts { #expect(context.brokenInvariants() == []) }
    }

    /// All objects by name, as a fresh context reads them.
    func dump() throws -> [String] {
      let fresh = bench.stranger()
      var lines: [String] = []
      for department in try fresh.fetch(FetchRequest("Department")) {
        let people = try department.objects(forKey: "employees").map { "\($0["firstName"])" }.sorted()
        let projects = try department.objects(forKey: "projects").map { "\($0["title"])" }
        lines.append("\(department["name"]): \(people) \(projects)")
      }
      for person in try fresh.fetch(FetchRequest("Person")) {
        let friends = try person.objects(forKey: "friends").map { "\($0["firstName"])" }.sorted()
        lines.append("\(person["firstName"]) \(person["age"]) \(person["lastName"]): \(friends)")
      }
      lines += try fresh.fetch(FetchRequest("Project")).map { "\($0["title"])" }
      return lines.sorted()
    }
  }

  private func step(_ random: inout SplitMix, in world: World, _ saves: (Int) throws -> Void) throws {
    let person = "p\(random.next(Self.others))"
    let other = "p\(random.next(Self.others))"
    let department = "d\(random.next(Self.departments))"
    let project = "r\(random.next(Self.others))"
    let (kind, value) = (random.next(12), random.next(100))
    switch kind {
    case 0, 1: try world.object(person).setValue(.int(Int64(value)), forKey: "age")
    case 2: try world.object(person).setValue(.string("l\(value)"), forKey: "lastName")
    case 3, 4: try world.object(person).setObject(world.object(department), forKey: "department")
    case 5: try world.object(person).setObject(nil, forKey: "department")
    case 6: try world.object(person).add(world.object(other), to: "friends")
    case 7: try world.object(person).remove(world.object(other), from: "friends")
    case 8: try world.object(department).add(world.object(project), to: "projects")
    case 9:
      let projects = try world.object(department).mutableOrderedSetValue(forKey: "projects")
      if projects.count > 1 { try projects.move(from: value % projects.count, to: (value / 7) % projects.count) }
    case 10:
      let name = value < 50 ? person : value < 80 ? project : department
      try world.context.delete(world.object(name))
      try world.context.processPendingChanges()
    default: try saves(value)
    }
  }

  @Test(arguments: StoreKind.allCases, [1, 2]) func childrenComeToWhatOneContextComesTo(
    _ kind: StoreKind, generations: Int
  ) throws {
    for seed in 0..<UInt64(Repetition.parentSeeds.count) {
      let (plain, nested) = (try World(kind, generations: 0), try World(kind, generations: generations))
      var (one, other) = (SplitMix(seed), SplitMix(seed))
      for _ in 0..<60 {
        try step(&one, in: plain) { value in if value % 4 == 3 { try plain.save(1) } }
        try step(&other, in: nested) { value in
          try nested.save(value % 4 == 3 ? generations + 1 : min(value % 4, generations))
        }
      }
      try plain.save(1)
      try nested.save(generations + 1)
      #expect(try plain.dump() == nested.dump(), "seed \(seed)")
    }
  }
}
