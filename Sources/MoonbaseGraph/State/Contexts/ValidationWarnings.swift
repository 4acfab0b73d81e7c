import MoonbaseModel
import OrderedCollections

/// The warnings of rules during a save, by object. Validating an object again replaces its warnings.
struct ValidationWarnings {
  /// The greatest number of warnings that a context keeps of one save.
  private static let greatestCount = 10_000

  private var byObject: OrderedDictionary<ManagedObjectID, [GraphError]> = [:]
  private var count = 0

  var isEmpty: Bool { count == 0 }
  var all: [GraphError] { byObject.values.flatMap(\.self) }

  mutating func removeAll() {
    guard !byObject.isEmpty else { return }
    self = ValidationWarnings()
  }

  /// Replaces the warnings of objects that were validated.
  mutating func replace(_ warnings: [GraphError], of objects: [ManagedObject]) {
    if count > 0 {
      for object in objects {
        guard let old = byObject[object.objectID] else { continue }
        count -= old.count
        byObject[object.objectID] = []
      }
    }
    for warning in warnings {
      guard count < Self.greatestCount, let id = warning.objectID else { continue }
      count += 1
      byObject[id, default: []].append(warning)
    }
  }

  /// Adopts the permanent IDs of new objects.
  mutating func rename(_ newID: (ManagedObjectID) -> ManagedObjectID) {
    var renamed: OrderedDictionary<ManagedObjectID, [GraphError]> = [:]
    for (id, warnings) in byObject where !warnings.isEmpty {
      let new = newID(id)
      renamed[new] = warnings.map { warning in
        var warning = warning
        warning.objectID = new
        return warning
      }
    }
    byObject = renamed
  }
}
