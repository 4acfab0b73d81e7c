import MoonbaseGraph
import MoonbaseHistory
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport

extension FuzzTarget {
  /// Damaged stores, and stores with changed tables and triggers: each problem is an error that names the file, and
  /// reading changes no byte.
  static let store = FuzzTarget(name: "store", seeds: seeds) { bytes in
    do { try StoreTrial(DamagedStore(bytes)).run() } catch { preconditionFailure("\(error)") }
  }

  private static let seeds: [[UInt8]] = (0..<16).map { seed in
    var random = SplitMix(UInt64(seed))
    return (0..<4 + 3 * seed).map { _ in UInt8(random.next(256)) }
  }
}

/// Reads everything in a damaged store, then writes.
private struct StoreTrial {
  private let folder: TemporaryFolder
  private let model: ResolvedModel

  init(_ store: DamagedStore) throws {
    folder = try store.written()
    model = store.model
  }

  func run() throws {
    let before = try folder.contents()
    attempt { _ = try SQLiteStore.metadata(ofStoreAt: folder.file()) }
    attempt { _ = try SQLiteStore.cachedModel(ofStoreAt: folder.file()) }
    try with(readOnly: true, readAll)
    let after = try folder.contents()
    precondition(after == before, "reading changed the files")
    try with(readOnly: false) { context in
      readAll(context)
      write(context)
      readAll(context)
    }
  }

  /// Opens the store, if possible.
  private func with(readOnly: Bool, _ body: (ManagedObjectContext) throws -> Void) throws {
    let coordinator = PersistentStoreCoordinator(model: model)
    var isOpen = false
    attempt {
      try coordinator.add(
        SQLiteStore(
          url: folder.file(), model: model, options: .init(readOnly: readOnly, busyTimeout: .milliseconds(200))))
      isOpen = true
    }
    if isOpen { try body(ManagedObjectContext(coordinator)) }
  }

  /// Expects an error to be a graph error that names the file, or the object with the invalid value.
  private func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      guard let error = error as? GraphError else {
        preconditionFailure("not the graph's: \(type(of: error)) \(error)")
      }
      // Of several failures each names its object.
      let isOfObjects = error.details.isEmpty ? error.objectID != nil : error.details.allSatisfy { $0.objectID != nil }
      let isNamed = "\(error)".contains("store.sqlite") || isOfObjects
      precondition(isNamed || [.validation, .invalidRequest].contains(error.code), "names no file: \(error)")
    }
  }

  private func readAll(_ context: ManagedObjectContext) {
    for entity in model.entities {
      attempt { _ = try context.count(FetchRequest(entity.name)) }
      attempt {
        for object in try context.fetch(FetchRequest(entity.name)) {
          for property in object.entity.properties {
            attempt { _ = try object.value(forKey: property.name) }
            if property.relationship?.isToMany == true { attempt { _ = try object.objects(forKey: property.name) } }
          }
        }
      }
      attempt {
        _ = try context.fetch(FetchRequest(entity.name, where: Predicate(format: "objectID != NULL AND NOT (1 == 2)")))
      }
    }
    attempt { _ = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)) }
  }

  private func write(_ context: ManagedObjectContext) {
    let steps: [() throws -> Void] = [
      {
        let person = try context.insert("Person", values: ["firstName": "new"])
        try person.setValue(.data(Data(repeating: 1, count: 10)), forKey: "color")
      },
      { for person in try context.fetch(FetchRequest("Person")).prefix(3) { try person.setValue(7, forKey: "age") } },
      { for project in try context.fetch(FetchRequest("Project")).prefix(1) { try context.delete(project) } },
      {
        let departments = try context.fetch(FetchRequest("Department"))
        for person in try context.fetch(FetchRequest("Employee")) {
          if let first = departments.first { try person.setObject(first, forKey: "department") }
        }
      },
    ]
    for step in steps {
      attempt {
        do {
          try step()
          try context.save()
        } catch {
          try context.rollback()
          throw error
        }
      }
    }
  }
}
