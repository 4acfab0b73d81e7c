import MoonbaseModel

/// Objects as their rows are now, in the place of those that the context has otherwise: with values that another context
/// replaced, or with unsaved changes that are not to count.
///
/// They are of a context without changes beside the other one, and live as long as this does.
final class SavedTwins {
  private let other: ManagedObjectContext
  private var context: ManagedObjectContext?
  /// Twins by their objects, and objects by their twins.
  private var twins: [ObjectIdentifier: ManagedObject] = [:]
  private var originals: [ObjectIdentifier: ManagedObject] = [:]

  init(of context: ManagedObjectContext) { other = context }

  /// The object by whose values a row is judged; `always` asks for a twin, by which related objects are as they are saved too.
  func judged(_ object: ManagedObject, by row: Snapshot, always: Bool = false) throws -> ManagedObject {
    let isOutdated = object.snapshot.map { $0.version < row.version } ?? false
    guard always || isOutdated || object.state.contains(.listed) else { return object }
    let context = self.context ?? ManagedObjectContext(twinOf: other)
    context.pinnedView = other.view
    self.context = context
    let twin = try context.object(for: row)
    twins[ObjectIdentifier(object)] = twin
    originals[ObjectIdentifier(twin)] = object
    return twin
  }

  /// What `body` makes of objects, with twins in the places of those that have some.
  func replacing(
    _ objects: [ManagedObject], _ body: ([ManagedObject]) throws -> [ManagedObject]
  ) rethrows -> [ManagedObject] {
    if twins.isEmpty { return try body(objects) }
    return try withExtendedLifetime(self) {
      try body(objects.map { twins[ObjectIdentifier($0)] ?? $0 }).map { originals[ObjectIdentifier($0)] ?? $0 }
    }
  }
}
