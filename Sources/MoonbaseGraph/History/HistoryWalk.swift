package import MoonbaseModel
package import MoonbasePlatform

/// The history of stores, read some transactions at a time: memory stays flat, however long it is.
package struct HistoryWalk {
  /// Where it begins.
  package enum Start: Sendable, Hashable {
    /// Behind what a token has seen; with nil at the beginning.
    case token(PersistentHistoryToken?)
    /// With what was saved after a date.
    case date(Date)
  }

  private static let size = 256

  private let context: ManagedObjectContext
  private let filter: HistoryFilter?
  private var request: PersistentHistoryChangeRequest?
  private var token: PersistentHistoryToken

  /// Throws as `execute` does for a request that does not fit.
  package init(_ context: ManagedObjectContext, from start: Start, matching fetchRequest: FetchRequest? = nil) throws {
    self.context = context
    filter = try HistoryFilter(fetchRequest, in: context.coordinator)
    switch start {
    case .token(let given):
      token = given ?? PersistentHistoryToken()
      request = .fetchHistory(after: given)
      request?.fetchLimit = Self.size
    // No token says where a date is in the histories of several stores: what came since is read at once.
    case .date(let date):
      token = PersistentHistoryToken()
      request = .fetchHistory(after: date)
    }
  }

  /// The next transactions with their changes, those that match; none of some that were read may. Nil at the end.
  package mutating func next() throws -> [PersistentHistoryTransaction]? {
    guard let current = request else { return nil }
    let found = try context.execute(current).transactions ?? []
    for transaction in found { token.advance(past: transaction) }
    if found.isEmpty || current.fetchLimit == 0 {
      request = nil
    } else {
      request = .fetchHistory(after: token)
      request?.fetchLimit = Self.size
    }
    return found.isEmpty ? nil : try filter?.apply(to: found) ?? found
  }
}
