import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Children of a context whose coordinator adds, removes or migrates stores.
@Suite struct ParentStoresTests {
  private func names(_ context: ManagedObjectContext) throws -> Set<String> {
    Set(try context.fetch(FetchRequest("Person")).map { $0["firstName"].string ?? "" })
  }

  private func store(_ kind: StoreKind, of bench: StoreBench, in folder: TemporaryFolder) throws -> any PersistentStore
  {
    try kind.store(for: bench.coordinator.model, in: folder)
  }

  @Test(arguments: StoreKind.allCases) func childrenFollowTheStoresOfTheirParent(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let folder = try TemporaryFolder()
    let parent = bench.context()
    let first = bench.coordinator.persistentStores[0]
    try parent.insert("Person", values: ["firstName": "first"])
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    let grandchild = ManagedObjectContext(parent: child)
    #expect(try names(child) == ["first"] && names(grandchild) == ["first"])
    let mine = try #require(try child.fetch(FetchRequest("Person")).first)
    // Adds a store.
    let second = try store(kind, of: bench, in: folder)
    try bench.coordinator.add(second)
    let new = try parent.insert("Person", values: ["firstName": "second"])
    try parent.assign(new, to: second)
    #expect(try names(child) == ["first", "second"] && names(grandchild) == ["first", "second"])
    try parent.save()
    let theirs = try grandchild.object(with: new.objectID)
    try theirs.setValue("grandchild's", forKey: "firstName")
    try grandchild.save()
    try child.save()
    try parent.save()
    #expect(try bench.saved("Person", "firstName") == ["first", "grandchild's"])
    // Removes the first store; values that were read stay.
    try bench.coordinator.remove(first)
    #expect(try names(child) == ["grandchild's"] && names(grandchild) == ["grandchild's"])
    #expect(mine["firstName"] == "first")
    let error = #expect(throws: GraphError.self) { try child.refresh(mine, mergeChanges: true) }
    #expect(error?.code == .objectNotFound)
    let late = try child.insert("Person", values: ["firstName": "late"])
    try child.save()
    #expect(late.objectID.storeNumber == StoreNumber(second.identifier).rawValue)
    try parent.save()
    // Migrates the second store.
    let third = try store(kind, of: bench, in: folder)
    try bench.coordinator.migratePersistentStore(second, to: third)
    for context in [grandchild, child, parent] { try context.reset() }
    #expect(try names(child) == ["grandchild's", "late"])
    try #require(try grandchild.fetch(FetchRequest("Person", where: "firstName == 'late'")).first)
      .setValue("later", forKey: "firstName")
    try grandchild.save()
    try child.save()
    try parent.save()
    #expect(try Set(bench.saved("Person", "firstName")) == ["grandchild's", "later"])
  }

  @Test func aChildMayBeMadeBeforeThereIsAnyStore() throws {
    let coordinator = PersistentStoreCoordinator(model: try People.model().resolved())
    let parent = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    let child = ManagedObjectContext(parent: parent)
    #expect(throws: GraphError.self) {
      try child.insert("Person")
      try child.save()
    }
    try coordinator.add(InMemoryStore(model: coordinator.model))
    try child.save()
    try parent.save()
    #expect(try child.count(FetchRequest("Person")) == 1)
  }

  @Test func aClosedParentSaysSoWhereAChildAsksForItsNewObject() throws {
    let bench = try StoreBench(.memory)
    let parent = bench.context()
    let child = ManagedObjectContext(parent: parent)
    let id = try parent.insert("Person").objectID
    try parent.close()
    let error = #expect(throws: GraphError.self) { try child.object(with: id) }
    #expect(error?.code == .invalidObject)
  }
}
