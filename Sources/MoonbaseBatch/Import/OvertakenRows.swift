import MoonbaseGraph
import MoonbaseModel

/// Rows whose objects another program saved in the meantime.
///
/// An `Importer` repeats these rows with fresh objects. The codes are `.mergeConflict`,
/// `.constraintConflict` and `.objectNotFound`.
struct OvertakenRows {
  /// The indexes of the rows.
  var rows: Set<Int> = []
  /// Whether only unique values of other objects collide, without changed objects.
  var areValues = false

  /// A set without rows.
  init() {}

  /// The rows whose objects a save's error names; `first` is the index of the first row. Nil for other errors.
  init?(_ error: any Error, of objects: [ManagedObject?], from first: Int) {
    let codes: [ErrorCode] = [.mergeConflict, .constraintConflict, .objectNotFound]
    let details = ImportFailure.details(of: error)
    guard !details.isEmpty, details.allSatisfy({ codes.contains($0.code) }) else { return nil }
    let ids = Set(details.compactMap(\.objectID))
    let places = objects.indices.filter { objects[$0].map { ids.contains($0.objectID) } == true }
    // A destination of rows is the object of no row.
    rows = places.isEmpty ? [first] : Set(places.map { first + $0 })
    areValues = details.allSatisfy { $0.code == .constraintConflict }
  }
}
