import MoonbaseModel

/// Marks a batch insert's handler, which runs while its store may be written on another thread. Writing to that store
/// from the handler would deadlock, as could writing to another store.
package enum BatchInsertHandler {
  /// Inherited by the tasks of the handler.
  @TaskLocal private static var isRunning = false

  /// Runs the handler.
  package static func run(_ body: () throws -> Void) rethrows { try $isRunning.withValue(true, operation: body) }

  /// Throws `.contextBusy` for an operation of a handler that would wait for a store.
  package static func refuse(_ operation: @autoclosure () -> String) throws {
    guard isRunning else { return }
    throw GraphError(
      .contextBusy,
      message:
        "\(operation()) by the handler of a batch insert, whose store may be written meanwhile: do it before or after the insert"
    )
  }

  /// Calls the handler with a new object, as a hook: the handler sets values, and must not use the context. Returns
  /// whether the handler has no further row.
  package static func fill(_ object: ManagedObject, _ handler: (ManagedObject) throws -> Bool) throws -> Bool {
    guard let context = object.context else { throw object.detachedError }
    let isLast = try context.withinHook { try handler(object) }
    try context.throwPendingError()
    return isLast
  }
}
