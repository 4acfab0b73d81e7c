import MoonbaseModel

/// Copies of objects with their saved values, in place of objects whose values in the context differ: because another
/// context saved newer values, or because unsaved changes are not to count.
///
/// The copies belong to a second context without changes, and live as long as this object.
final class CommittedCopies {
  /// The original context.
  private let other: ManagedObjectContext
  /// Made for the first copy.
  private var context: ManagedObjectContext?
  /// The copies by original, and the originals by copy.
  private var twins: [ObjectIdentifier: ManagedObject] = [:]
  /// By copy.
  private var originals: [ObjectIdentifier: ManagedObject] = [:]

  /// Makes no copies yet.
  init(of context: ManagedObjectContext) { other = context }

  /// The object whose values are evaluated for a row; with `always`, a copy, so that related objects have their saved
  /// values too. The copy has the values of `row`.
  func judged(_ object: ManagedObject, by row: Snapshot, always: Bool = false) throws -> ManagedObject {
    let isOutdated = object.snapshot.map { $0.version < row.version } ?? false
    guard always || isOutdated || object.state.contains(.listed) else { return object }
    let context = self.context ?? ManagedObjectContext(twinOf: other)
    context.readAhead.pinnedView = other.view
    self.context = context
    let twin = try context.object(for: row)
    twins[ObjectIdentifier(object)] = twin
    originals[ObjectIdentifier(twin)] = object
    return twin
  }

  /// Runs `body` with objects replaced by their copies, and replaces copies in the result by the originals. The order
  /// of the result is kept.
  func replacing(
    _ objects: [ManagedObject], _ body: ([ManagedObject]) throws -> [ManagedObject]
  ) rethrows -> [ManagedObject] {
    if twins.isEmpty { return try body(objects) }
    return try withExtendedLifetime(self) {
      try body(objects.map { twins[ObjectIdentifier($0)] ?? $0 }).map { originals[ObjectIdentifier($0)] ?? $0 }
    }
  }
}
