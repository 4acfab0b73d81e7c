import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseScripting

/// Checks the objects of a store with extensions. It finds violated rules, and stored derived attributes for which the
/// current code computes another value.
///
/// Objects are read in chunks and nothing is saved. A finding is reported as soon as it is found.
struct ExtensionCheck {
  /// The number of objects that are read together.
  private static let chunk = 1000
  /// The context with extensions.
  private let context: ManagedObjectContext
  /// The findings that are known already.
  private let known: Set<StoreFinding>
  /// Receives each finding.
  private let tell: (StoreFinding) -> Void

  /// `known` contains the findings without extensions, which are not reported again.
  init(_ context: ManagedObjectContext, known: [StoreFinding], _ tell: @escaping (StoreFinding) -> Void) {
    (self.context, self.known, self.tell) = (context, Set(known), tell)
  }

  /// Checks all objects of all stores.
  func run(showing bar: ProgressBar) throws {
    // If a store has one configuration of the model, it contains only some of the entities.
    let stores = context.coordinator.persistentStores
    let roots = context.model.entities.filter { root in
      root.parent == nil && stores.contains { $0.entities.contains { $0.name == root.name } }
    }
    let lists = try roots.map { try context.fetchIDList(FetchRequest($0.name)) }
    let total = lists.reduce(0) { $0 + $1.count }
    var done = 0
    for ids in lists {
      var place = 0
      while place < ids.count {
        let end = min(ids.count, place + Self.chunk)
        try check(Array(ids[place..<end]))
        done += end - place
        place = end
        bar.show(done, of: total)
      }
    }
    bar.end()
  }

  /// Checks the objects of these IDs, and turns them into faults again.
  private func check(_ ids: [ManagedObjectID]) throws {
    let objects = try context.loadObjects(with: ids)
    for object in objects {
      // Validate the stored values, and not the values after a save.
      try failures { try object.validateAsNew() }.forEach { tellRule($0, of: object) }
      try checkStored(object)
    }
    try context.rollback()
    try context.turnIntoFaults(objects)
  }

  /// Reports a violated rule, unless it is known.
  private func tellRule(_ error: GraphError, of object: ManagedObject) {
    let isKnown = known.contains {
      $0.object == object.objectID && $0.message.hasPrefix("\(error.property ?? "") ")
    }
    guard !isKnown else { return }
    tell(StoreFinding(kind: .rule, of: object.objectID, message: error.description))
  }

  /// Reports stored derived attributes whose computation gives another value.
  private func checkStored(_ object: ManagedObject) throws {
    let names = try context.storedAttributeNames(of: object.entity)
    guard !names.isEmpty else { return }
    let before = try Dictionary(uniqueKeysWithValues: names.map { ($0, try object.value(forKey: $0)) })
    for name in names {
      let changed = try failures { _ = try object.recomputeStoredAttributes([name]) }
      changed.forEach { tellRule($0, of: object) }
      guard changed.isEmpty, case let now = try object.value(forKey: name), let former = before[name], now != former
      else { continue }
      tell(
        StoreFinding(
          kind: .derived, of: object.objectID,
          message:
            "\(name) is \(former.beginning ?? "no value"), and the extension computes \(now.beginning ?? "no value"): "
            + "moonbase recompute \(object.entity.name) \(name) brings it up to date"))
    }
  }

  /// The failures of `body`. Errors that end the run are thrown.
  private func failures(_ body: () throws -> Void) throws -> [GraphError] {
    do {
      try body()
      return []
    } catch let error as GraphError where !ObjectFunction.endsAll(error) {
      return error.details.isEmpty ? [error] : error.details
    }
  }
}
