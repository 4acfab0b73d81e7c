import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLiteStore

#if PostgreSQL
  import MoonbasePostgreSQLStore
#endif

/// A new store that is made beside its destination, and moved there when it is complete.
protocol UnfinishedStore: AnyObject, Sendable {
  /// The location of the store while it is made.
  var url: URL { get }
  /// Removes the store, unless it was moved to its destination.
  func discard()
  /// Moves the complete, closed store to its destination.
  func moveIntoPlace() throws
  /// The error with the destination in its message.
  func named(_ error: GraphError) -> GraphError
}

extension NewStore: UnfinishedStore {}

#if PostgreSQL
  extension NewSchema: UnfinishedStore {}
#endif
