// swift-format-ignore-file
// The lines are those of docs/errors.md.
import Moonbase
import MoonbasePlatform

/// The Swift code of the error register that is compiled and not run.
private enum ErrorSamples {
  private static func closed(container: PersistentContainer) async throws {
    // shown
    try await container.close()
    do {
      try await container.performBackgroundTask { context in try context.save() }
    } catch let error as GraphError where error.code == .containerClosed {
      print("the service is ending: \(error.message)")
    }
    // end
  }

  private static func unknownSource(model: ManagedObjectModel, url: URL) throws {
    // shown
    do {
      _ = try PersistentContainer(ContainerDescription(model: .value(model), stores: [.sqlite(url)]))
    } catch let error as GraphError where error.code == .missingSourceModel {
      print(error.message)        // the store carries no model: name the model that it was made with
    }
    // end
  }

  private static func noMapping(model: ManagedObjectModel, url: URL) throws {
    // shown
    var store = PersistentStoreDescription.sqlite(url)
    store.shouldInferMappingModelAutomatically = false
    do {
      _ = try PersistentContainer(ContainerDescription(model: .value(model), stores: [store]))
    } catch let error as GraphError where error.code == .missingMappingModel {
      print(error.message)        // the store is of another version: migrate it with a mapping model or a script
    }
    // end
  }
}
