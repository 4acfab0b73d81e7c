import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Prefetched to-many relationships and the rows of their members, at the first walk over them.
@Suite struct PrefetchedListTests {
  private static let lists = Pairs.toMany.sorted()

  /// How members change between the prefetch and the first walk.
  enum Change: CaseIterable, Sendable {
    case members, replacement, otherSides, deletion
  }

  private func names(_ objects: [ManagedObject]) -> [String] { objects.map { $0["name"].string ?? "" }.sorted() }

  /// A store with owners, each with its own members.
  private func filled(_ kind: StoreKind, _ key: String, owners: Int, members: Int) throws -> StoreBench {
    let bench = try StoreBench(kind, Pairs.model())
    let context = bench.context()
    for owner in 0..<owners {
      let object = try context.insert("Node", values: ["name": .string("\(owner)"), "number": 1])
      let names = (0..<members).map { "\(owner).\($0)" }
      try object.setObjects(names.map { try context.insert("Node", values: ["name": .string($0)]) }, forKey: key)
    }
    try context.insert("Node", values: ["name": "new"])
    try context.save()
    return bench
  }

  private func owners(_ key: String, in context: ManagedObjectContext) throws -> [ManagedObject] {
    var request = try FetchRequest("Node", where: "number == 1")
    request.relationshipKeyPathsForPrefetching = [key]
    return try context.fetch(request)
  }

  @Test(arguments: StoreKind.withFolder, lists)
  func eachOwnerHasItsMembersAndOneThatHasNoneHasNone(_ kind: StoreKind, _ key: String) throws {
    for (count, members) in [(1, 1), (5, 3), (3, 0)] {
      let bench = try filled(kind, key, owners: count, members: members)
      let reader = bench.stranger()
      let owners = try owners(key, in: reader)
      #expect(owners.count == count)
      for owner in owners {
        #expect(try !owner.hasFault(forRelationshipNamed: key))
        let expected = (0..<members).map { "\(owner["name"].string ?? "").\($0)" }
        #expect(try names(owner.objects(forKey: key)) == expected)
      }
    }
  }

  @Test(arguments: StoreKind.withFolder, lists)
  func theFirstWalkSeesThatOneWentAndAnotherOneCame(_ kind: StoreKind, _ key: String) throws {
    for change in Change.allCases {
      let bench = try filled(kind, key, owners: 2, members: 3)
      let context = bench.stranger()
      let new = try #require(try context.fetch(FetchRequest("Node", where: "name == 'new'")).first)
      let gone = try #require(try context.fetch(FetchRequest("Node", where: "name == '0.1'")).first)
      let owner = try #require(try owners(key, in: context).first { $0["name"] == "0" })
      switch change {
      case .members:
        try owner.remove(gone, from: key)
        try owner.add(new, to: key)
      case .replacement:
        let members = try owner.objectIDs(forRelationshipNamed: key).map { try context.object(with: $0) }
        try owner.setObjects(members.filter { $0 != gone } + [new], forKey: key)
      case .otherSides: try takeOver(owner, by: new, from: gone, key)
      case .deletion:
        try context.delete(gone)
        try context.processPendingChanges()
        try owner.add(new, to: key)
      }
      #expect(try names(owner.objects(forKey: key)) == ["0.0", "0.2", "new"], "\(change)")
      #expect(context.brokenInvariants() == [])
    }
  }

  private func takeOver(
    _ owner: ManagedObject, by new: ManagedObject, from gone: ManagedObject, _ key: String
  ) throws {
    let inverse = try #require(Pairs.inverses[key])
    guard Pairs.toMany.contains(inverse) else {
      try gone.setObject(nil, forKey: inverse)
      return try new.setObject(owner, forKey: inverse)
    }
    try gone.remove(owner, from: inverse)
    try new.add(owner, to: inverse)
  }
}
