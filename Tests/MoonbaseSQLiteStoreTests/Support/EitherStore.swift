import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLiteStore
import MoonbaseTestSupport

/// The kinds of stores on which the graph must behave alike.
enum EitherStore: CaseIterable {
  case inMemory, sqlite

  /// A coordinator over an empty store, and the folder that goes with it.
  func bench(_ model: ManagedObjectModel = People.model()) throws -> Bench {
    let resolved = try model.resolved()
    let coordinator = PersistentStoreCoordinator(model: resolved)
    let folder = try TemporaryFolder()
    switch self {
    case .inMemory: coordinator.add(try InMemoryStore(model: resolved))
    case .sqlite: coordinator.add(try SQLiteStore(url: folder.file(), model: resolved))
    }
    return Bench(coordinator: coordinator, folder: folder)
  }

  struct Bench {
    let coordinator: PersistentStoreCoordinator
    let folder: TemporaryFolder

    func context(_ extensions: [String: [EntityExtension]] = [:]) -> ManagedObjectContext {
      let domain = ExtensionDomain()
      domain.extensions = extensions
      return ManagedObjectContext(coordinator, domain: domain)
    }
  }
}
