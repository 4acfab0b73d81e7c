import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Mutable sets that read and change a relationship.
@Suite struct MutableSetTests {
  private struct Friends {
    let bench: StoreBench
    let context: ManagedObjectContext
    let people: [ManagedObject]

    init(_ kind: StoreKind) throws {
      bench = try StoreBench(kind)
      context = bench.context()
      people = try (0..<5).map { [context] in try context.insert("Person", values: ["age": .int($0)]) }
    }

    func ages(_ set: some Sequence<ManagedObject>) -> [Int64] { set.compactMap { $0["age"].int }.sorted() }
  }

  @Test(arguments: StoreKind.allCases) func aSetShowsTheRelationshipAndChangesIt(_ kind: StoreKind) throws {
    let all = try Friends(kind)
    let (ann, others) = (all.people[0], all.people)
    let friends = try ann.mutableSetValue(forKey: "friends")
    #expect(friends.isEmpty && friends.owner === ann)
    try friends.insert(others[1])
    try friends.insert(others[1])
    #expect(all.ages(friends) == [1] && friends.contains(others[1]))
    #expect(try others[1].objects(forKey: "friends") == [ann])
    // The set follows changes made elsewhere.
    try others[2].add(ann, to: "friends")
    #expect(friends.count == 2 && friends.contains(others[2]))
    #expect(try friends.remove(others[1]) && !friends.remove(others[1]))
    try friends.formUnion([others[3], others[4], others[2]])
    #expect(all.ages(friends) == [2, 3, 4])
    try friends.subtract([others[4], others[1]])
    #expect(all.ages(friends) == [2, 3])
    try friends.formSymmetricDifference([others[3], others[1]])
    #expect(all.ages(friends) == [1, 2])
    try friends.formIntersection([others[2], others[4]])
    #expect(all.ages(friends) == [2])
    #expect(
      friends.isSubset(of: others) && friends.isSuperset(of: [others[2]]) && friends.isDisjoint(with: [others[1]]))
    try all.context.save()
    #expect(all.ages(friends) == [2])
    for friend in friends { try friends.remove(friend) }
    #expect(friends.isEmpty)
    try friends.formUnion(others[1...2])
    try friends.removeAll()
    #expect(friends.isEmpty)
    #expect(try others[1].objects(forKey: "friends").isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func anInsertionReadsNothing(_ kind: StoreKind) throws {
    let all = try Friends(kind)
    try all.people[0].setObjects([all.people[1]], forKey: "friends")
    try all.context.save()
    let context = all.bench.stranger()
    let ann = try context.object(with: all.people[0].objectID)
    let friends = try ann.mutableSetValue(forKey: "friends")
    try friends.insert(context.object(with: all.people[2].objectID))
    #expect(try ann.hasFault(forRelationshipNamed: "friends"))
    #expect(friends.count == 2)
  }

  @Test(arguments: StoreKind.allCases) func aChangeIsAllOrNothing(_ kind: StoreKind) throws {
    let all = try Friends(kind)
    let (ann, others) = (all.people[0], all.people)
    let friends = try ann.mutableSetValue(forKey: "friends")
    try friends.insert(others[4])
    try all.context.save()
    try all.context.delete(others[3])
    #expect { try friends.formUnion([others[1], others[3], others[2]]) } throws: {
      "\($0)".contains("Person.friends") && "\($0)".contains("is deleted and cannot be its destination")
    }
    let department = try all.context.insert("Department")
    #expect { try friends.formUnion([others[1], department]) } throws: {
      "\($0)".contains("its destination is Person, not Department")
    }
    let elsewhere = all.bench.stranger()
    let stranger = try elsewhere.insert("Person")
    #expect { try friends.formSymmetricDifference([others[4], stranger]) } throws: {
      "\($0)".contains("of another context")
    }
    #expect(all.ages(friends) == [4] && !ann.hasChanges)
    #expect(throws: GraphError.self) { try ann.mutableSetValue(forKey: "department") }
    #expect(throws: GraphError.self) { try ann.mutableSetValue(forKey: "freinds") }
    #expect { try ann.mutableOrderedSetValue(forKey: "friends") } throws: { "\($0)".contains("it is not ordered") }
    try all.context.delete(ann)
    #expect(throws: GraphError.self) { try friends.insert(others[1]) }
    try all.context.save()
    #expect(throws: GraphError.self) { try friends.insert(others[1]) }
  }

  private func titles(_ list: MutableOrderedObjectSet<ManagedObject>) -> String {
    list.map { $0["title"].string ?? "-" }.joined()
  }

  @Test(arguments: StoreKind.allCases) func anOrderedSetKeepsItsOrder(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let department = try context.insert("Department")
    let p = try ["a", "b", "c", "d"].map { try context.insert("Project", values: ["title": .string($0)]) }
    let list = try department.mutableOrderedSetValue(forKey: "projects")
    try list.append(contentsOf: p[0...2])
    try list.append(p[0])
    #expect(titles(list) == "abc" && list[1] === p[1] && list[3] == nil && list.first === p[0] && list.last === p[2])
    #expect(list.firstIndex(of: p[2]) == 2 && list.firstIndex(of: p[3]) == nil)
    try list.insert(p[3], at: 0)
    #expect(titles(list) == "dabc")
    try list.insert(p[3], at: 3)
    #expect(titles(list) == "abcd")
    try list.move(from: 0, to: 2)
    #expect(titles(list) == "bcad")
    try list.swapAt(0, 3)
    #expect(titles(list) == "dcab")
    #expect(try list.remove(at: 1) === p[2])
    #expect(titles(list) == "dab" && p[2]["department"].isNull)
    try list.replace(at: 2, with: p[2])
    #expect(titles(list) == "dac")
    // An object that is already a member moves.
    try list.replace(at: 0, with: p[2])
    #expect(titles(list) == "ca")
    try list.append(contentsOf: [p[3], p[1]])
    try list.sort { ($0["title"].string ?? "") < ($1["title"].string ?? "") }
    #expect(titles(list) == "abcd")
    try context.save()
    let other = bench.stranger()
    #expect(titles(try other.object(with: department.objectID).mutableOrderedSetValue(forKey: "projects")) == "abcd")
    for (position, move) in [(4, true), (-1, true), (5, false)] {
      #expect { try move ? list.move(from: position, to: 0) : list.insert(p[0], at: position) } throws: {
        "\($0)".contains("Department.projects: there is no position \(position) among its 4 objects")
      }
    }
    #expect(throws: GraphError.self) { try list.remove(at: 4) }
    #expect(titles(list) == "abcd" && !context.hasChanges)
    #expect(try list.remove(p[0]))
    try list.removeAll()
    #expect(list.isEmpty)
  }

  @Test func movesAmongManyCostLessThanTheList() throws {
    let bench = try StoreBench(.memory)
    let context = bench.context()
    let department = try context.insert("Department")
    let list = try department.mutableOrderedSetValue(forKey: "projects")
    try list.append(contentsOf: (0..<20_000).map { _ in try context.insert("Project") })
    let first = list[0]
    // If a move cost the members behind it, this would take minutes.
    for _ in 0..<20_000 { try list.move(from: 0, to: list.count - 1) }
    #expect(list[0] === first)
  }
}
