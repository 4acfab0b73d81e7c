import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Ordered lists that a child appends to without reading them.
@Suite struct ParentListTests {
  private struct Family {
    let bench: StoreBench
    let parent: ManagedObjectContext
    let owner: ManagedObjectID
    let members: [ManagedObjectID]
    let key: String

    /// `key` is an ordered relationship of the reference model; the inverse of `books` is to-one, that of `likes`
    /// to-many.
    init(_ kind: StoreKind, _ key: String) throws {
      self.key = key
      bench = try StoreBench(kind, ReferenceModel.model())
      let writer = bench.context()
      let owner = try writer.insert("Node", values: ["name": "owner"])
      let members = try ["a", "b", "c"].map { try writer.insert("Node", values: ["name": .string($0)]) }
      try owner.setObjects(members, forKey: key)
      try writer.save()
      (self.owner, self.members) = (owner.objectID, members.map(\.objectID))
      parent = bench.context()
    }

    func names(in context: ManagedObjectContext) throws -> [Value] {
      try context.object(with: owner).objects(forKey: key).map { try $0.value(forKey: "name") }
    }

    func add(_ index: Int, in context: ManagedObjectContext) throws {
      try context.object(with: owner).add(context.object(with: members[index]), to: key)
    }
  }

  @Test(arguments: StoreKind.allCases, ["books", "likes"])
  func appendingAMemberThatIsThereMovesNothing(_ kind: StoreKind, _ key: String) throws {
    for isRead in [false, true] {
      for isHere in [false, true] {
        let family = try Family(kind, key)
        if isHere { _ = try family.names(in: family.parent) }
        let child = ManagedObjectContext(parent: family.parent)
        if isRead { _ = try family.names(in: child) }
        try family.add(0, in: child)
        try child.save()
        #expect(try family.names(in: child) == ["a", "b", "c"], "read \(isRead), here \(isHere)")
        #expect(try family.names(in: family.parent) == ["a", "b", "c"], "read \(isRead), here \(isHere)")
        try family.parent.save()
        #expect(try family.names(in: family.bench.stranger()) == ["a", "b", "c"], "read \(isRead), here \(isHere)")
        #expect(child.brokenInvariants() + family.parent.brokenInvariants() == [])
      }
    }
  }

  @Test(arguments: StoreKind.allCases, ["books", "likes"])
  func aGrandchildMovesNothingEither(_ kind: StoreKind, _ key: String) throws {
    let family = try Family(kind, key)
    let child = ManagedObjectContext(parent: family.parent)
    let grandchild = ManagedObjectContext(parent: child)
    try family.add(0, in: grandchild)
    let new = try grandchild.insert("Node", values: ["name": "d"])
    try grandchild.object(with: family.owner).add(new, to: key)
    try family.add(1, in: grandchild)
    for context in [grandchild, child, family.parent] { try context.save() }
    for context in [grandchild, child, family.parent, family.bench.stranger()] {
      #expect(try family.names(in: context) == ["a", "b", "c", "d"])
    }
  }
}
