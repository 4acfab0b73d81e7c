import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Random imports in chunks with background saves, some of which fail, compared with a naive model of the
/// relationships.
@Suite struct RandomImportsConcurrencyTests {
  private struct Import {
    private let context: ManagedObjectContext
    private let bench: StoreBench
    private let store: FailingStore
    private var random: SplitMix
    private var people: [ManagedObject] = []
    private var departments: [ManagedObject] = []
    /// By numbers: each person's department, and the pairs of friends.
    private var works: [Int: Int] = [:]
    private var likes: Set<[Int]> = []
    private(set) var countAhead = 0

    init(_ kind: StoreKind, seed: Int) throws {
      (bench, store) = try StoreBench.failing(kind)
      context = bench.context()
      context.hostSettings.savesAhead = true
      random = SplitMix(UInt64(seed))
      for number in 0..<3 { try addDepartment(number) }
      try context.save()
    }

    private mutating func addDepartment(_ number: Int) throws {
      departments.append(try context.insert("Department", values: ["name": .string("\(number)")]))
    }

    /// Inserts people, some of whom have friends; now and then an existing person moves or gets a friend.
    mutating func addChunk() throws {
      if Bool.random(using: &random) { try addDepartment(departments.count) }
      let start = people.count
      let hub = Bool.random(using: &random) ? people.indices.randomElement(using: &random) : nil
      for number in start..<start + Int.random(in: 60..<90, using: &random) {
        people.append(try context.insert("Person", values: ["firstName": .string("\(number)")]))
        if Int.random(in: 0..<4, using: &random) > 0 { try move(number) }
        let neighbour = Int.random(in: start...number, using: &random)
        if Int.random(in: 0..<3, using: &random) == 0 { try befriend(number, neighbour) }
        if let hub, Bool.random(using: &random) { try befriend(hub, number) }
      }
      guard Int.random(in: 0..<4, using: &random) == 0 else { return }
      let one = Int.random(in: 0..<people.count, using: &random)
      let other = Int.random(in: 0..<people.count, using: &random)
      if Bool.random(using: &random) { try move(one) } else { try befriend(one, other) }
    }

    private mutating func move(_ person: Int) throws {
      let department = Int.random(in: 0..<departments.count, using: &random)
      if Bool.random(using: &random) {
        try people[person].setObject(departments[department], forKey: "department")
      } else {
        try departments[department].add(people[person], to: "employees")
      }
      works[person] = department
    }

    private mutating func befriend(_ one: Int, _ other: Int) throws {
      guard one != other else { return }
      try people[one].add(people[other], to: "friends")
      likes.formUnion([[one, other], [other, one]])
    }

    /// The commit may fail; without waiting, the failure is reported later.
    mutating func save() throws {
      let fails = Int.random(in: 0..<3, using: &random) == 0
      store.fail(atCommit: fails)
      do {
        try context.saveAhead()
      } catch {
        #expect(fails)
      }
      let isAhead = context.writing.pendingSave != nil
      if isAhead { countAhead += 1 }
      if fails {
        if isAhead, Bool.random(using: &random) { try addChunk() }
        context.waitForPendingSave()
        store.fail(atCommit: false)
        #expect(context.hasChanges)
        if isAhead { #expect(throws: GraphError.self) { try context.finishSave() } }
      }
      if Int.random(in: 0..<3, using: &random) == 0 { try compare() }
    }

    /// Compares the context with the model.
    private mutating func compare() throws {
      let number = Int.random(in: 0..<departments.count, using: &random)
      let employees = try departments[number].objects(forKey: "employees")
      #expect(Set(employees) == Set(works.filter { $0.value == number }.map { people[$0.key] }))
      let person = Int.random(in: 0..<people.count, using: &random)
      let destination = try people[person].object(forKey: "department")
      #expect(destination === works[person].map { departments[$0] })
      let friends = try people[person].objects(forKey: "friends")
      #expect(Set(friends) == Set(likes.filter { $0[0] == person }.map { people[$0[1]] }))
      #expect(context.brokenInvariants() == [])
    }

    /// Compares the store with the model.
    mutating func finish() throws {
      try context.save()
      #expect(!context.hasChanges && context.brokenInvariants() == [])
      #expect((people + departments).allSatisfy { !$0.objectID.isTemporaryID && !$0.isInserted })
      for _ in 0..<8 { try compare() }
      let reader = bench.stranger()
      var (storedWorks, storedLikes): ([Int: Int], Set<[Int]>) = ([:], [])
      for person in try reader.fetch(FetchRequest("Person")) {
        let number = try Self.number(person["firstName"])
        if let department = try person.object(forKey: "department") {
          storedWorks[number] = try Self.number(department["name"])
        }
        for friend in try person.objects(forKey: "friends") {
          storedLikes.insert([number, try Self.number(friend["firstName"])])
        }
      }
      #expect(storedWorks == works && storedLikes == likes)
    }

    private static func number(_ value: Value) throws -> Int {
      guard case .string(let text) = value, let number = Int(text) else { throw FailingStore.error }
      return number
    }
  }

  @Test(arguments: StoreKind.allCases, 0..<4) func importsEndAsTheModelSays(_ kind: StoreKind, _ seed: Int) throws {
    var all = try Import(kind, seed: seed)
    for _ in 0..<12 {
      try all.addChunk()
      try all.save()
    }
    try all.finish()
    #expect(all.countAhead > 2)
  }
}
