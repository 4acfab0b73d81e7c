import MoonbaseGraph
import MoonbaseModel

/// Rows whose objects another program saved meanwhile.
struct OvertakenRows {
  /// Their places.
  var rows: Set<Int> = []
  /// Whether other objects have values that must be unique, and no object was changed.
  var areValues = false

  init() {}

  /// The rows that an error of a save names, by its objects; `first` is the place of the first row. Nil for an error
  /// of another kind.
  init?(_ error: any Error, of objects: [ManagedObject?], from first: Int) {
    let codes: [ErrorCode] = [.mergeConflict, .constraintConflict, .objectNotFound]
    let details = ImportFailure.details(of: error)
    guard !details.isEmpty, details.allSatisfy({ codes.contains($0.code) }) else { return nil }
    let ids = Set(details.compactMap(\.objectID))
    let places = objects.indices.filter { objects[$0].map { ids.contains($0.objectID) } == true }
    // An object to which rows lead is that of no row.
    rows = places.isEmpty ? [first] : Set(places.map { first + $0 })
    areValues = details.allSatisfy { $0.code == .constraintConflict }
  }
}
