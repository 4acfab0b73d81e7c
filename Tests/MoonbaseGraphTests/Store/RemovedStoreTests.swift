import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Removing stores from a coordinator, and finding stores and objects of the remaining ones.
@Suite struct RemovedStoreTests {
  private let folder: TemporaryFolder
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    folder = try TemporaryFolder()
    coordinator = PersistentStoreCoordinator(model: try People.model().resolved())
  }

  private func add(_ kind: StoreKind) throws -> any PersistentStore {
    let store = try kind.store(for: coordinator.model, in: folder)
    try coordinator.add(store)
    return store
  }

  /// Expects an error, since an empty result would mean that there are no people.
  private func expectNoStore<Result>(_ body: () throws -> Result) throws {
    #expect {
      _ = try body()
    } throws: {
      ($0 as? GraphError)?.code == .incompatibleSchema && "\($0)".contains("no open store holds Person")
    }
  }

  @Test(arguments: StoreKind.withFolder)
  func objectsKeepWhatTheyReadAndWhatNeedsTheStoreSaysWhatIsMissing(_ kind: StoreKind) throws {
    let store = try add(kind)
    let writer = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    let ids = try ["Ann", "Bob"].map { try writer.insert("Person", values: ["firstName": .string($0)]) }
    try writer.save()
    let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    let read = try context.object(with: ids[0].objectID)
    let fault = try context.object(with: ids[1].objectID)
    try read.fireFault()
    try coordinator.remove(store)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(try read.value(forKey: "firstName") == "Ann")
    #expect {
      try fault.fireFault()
    } throws: {
      ($0 as? GraphError)?.code == .objectNotFound
        && "\($0)".contains("belongs to a store that is not open here: open it first")
    }
    try expectNoStore { try context.fetch(FetchRequest("Person")) }
    try expectNoStore { try context.count(FetchRequest("Person")) }
    try expectNoStore { try context.fetchIDs(FetchRequest("Person")) }
    try expectNoStore { try context.fetchedObjects(FetchRequest("Person")) }
    var columns = FetchRequest("Person")
    columns.propertiesToFetch = ["firstName"]
    try expectNoStore { try context.fetchDictionaries(columns) }
    try read.setValue("changed", forKey: "firstName")
    #expect {
      try context.save()
    } throws: {
      ($0 as? GraphError)?.code == .objectNotFound
    }
    #expect(read.hasChanges && read["firstName"] == "changed" && context.brokenInvariants() == [])
    #expect {
      try context.insert("Person")
      try context.save()
    } throws: {
      "\($0)".contains("no open store holds Person")
    }
    try context.reset()
    // The store can be added again, and its objects are valid.
    try coordinator.add(store)
    #expect(try context.object(with: read.objectID).value(forKey: "firstName") == "Ann")
    withExtendedLifetime(writer) {}
  }

  @Test func aStoreThatIsNotHereCannotBeRemoved() throws {
    let store = try add(.memory)
    try coordinator.remove(store)
    #expect {
      try coordinator.remove(store)
    } throws: {
      ($0 as? GraphError)?.code == .invalidRequest && "\($0)".contains("is not open here")
    }
  }

  @Test func aFileIsFreeOnceItsStoreIsRemoved() throws {
    weak var gone: AnyObject?
    do {
      let store = try add(.sqlite)
      let url = try #require(store.url)
      gone = store
      #expect(coordinator.persistentStore(for: url) === store)
      let link = folder.file("link.sqlite")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
      #expect(coordinator.persistentStore(for: link) === store)
      #expect(coordinator.persistentStore(for: folder.file("another.sqlite")) == nil)
      try coordinator.remove(store)
      #expect(coordinator.persistentStore(for: url) == nil)
    }
    #expect(gone == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func anIDIsFoundByItsTextWhereItsStoreIsOpen(_ kind: StoreKind) throws {
    let store = try add(kind)
    let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    let person = try context.insert("Person")
    #expect(coordinator.managedObjectID(forURIRepresentation: person.objectID.uriRepresentation) == nil)
    try context.save()
    let text = person.objectID.uriRepresentation
    #expect(coordinator.managedObjectID(forURIRepresentation: text) == person.objectID)
    #expect(coordinator.managedObjectID(forURIRepresentation: text + "0") != person.objectID)
    #expect(coordinator.managedObjectID(forURIRepresentation: text.replacing("Person", with: "Nobody")) == nil)
    #expect(coordinator.managedObjectID(forURIRepresentation: "person 1") == nil)
    try coordinator.remove(store)
    #expect(coordinator.managedObjectID(forURIRepresentation: text) == nil)
  }
}
