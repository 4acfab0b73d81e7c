import MoonbaseModel

/// Refreshing everything at once.
extension ManagedObjectContext {
  /// Reads all objects again at their next access; unsaved changes stay on top of the new values (`refresh`).
  ///
  /// Throws `.recursiveSave` and `.contextBusy` within a hook. All objects are refreshed before the first error is
  /// thrown: `.objectNotFound` for an object with changes that is gone from its store, or the error of a hook around
  /// faults.
  public func refreshAllObjects() throws {
    try checkOpen()
    settle()
    try refuseWithinHooks("a refresh was asked for")
    let objects = registered.values.map { $0.takeUnretainedValue() }.filter { !$0.isInserted }
    source.forgetRows(of: objects.map(\.objectID))
    undoManager?.noteNewRows()
    let kept = objects.filter { $0.state.contains(.listed) || !$0.isFault && $0.hasMoreThanItsRow }
    var rows: [ManagedObjectID: Snapshot] = [:]
    for row in try source.snapshots(of: kept.map(\.objectID)) { rows[row.id] = row }
    var failures: [any Error] = []
    func trying(_ body: () throws -> Void) {
      do { try body() } catch { failures.append(error) }
    }
    changeCount &+= 1
    forgetReadAhead()
    let keptOnes = Set(kept)
    for object in objects where object.context === self && !keptOnes.contains(object) {
      trying { try turnIntoFault(object) }
    }
    for object in kept where object.context === self {
      guard let row = rows[object.objectID] else {
        trying { _ = try source.currentRow(of: object.objectID) }
        continue
      }
      trying { try merge(row, into: object) }
    }
    if let first = failures.first { throw first }
  }
}
