public import MoonbasePlatform

/// Somebody else wrote to a store: another process, or another store of the same file in this one (Core Data's
/// `NSPersistentStoreRemoteChange`).
public struct PersistentStoreRemoteChange: Sendable, Hashable {
  /// The identifier of the store.
  public let storeID: String
  /// Its file.
  public let url: URL?
  /// A token behind what is in the store's history now; nil where it keeps none.
  public let historyToken: PersistentHistoryToken?

  /// Makes news, for a store that can tell of it.
  public init(storeID: String, url: URL?, historyToken: PersistentHistoryToken?) {
    (self.storeID, self.url, self.historyToken) = (storeID, url, historyToken)
  }
}

/// Somebody is told of what others write to a store, as long as he keeps this.
public final class RemoteChangeObservation: Sendable {
  private let end: @Sendable () -> Void

  /// Makes one, for a store that can tell of such changes; `end` may be called more than once.
  public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// Nothing more is told.
  public func cancel() { end() }
}

extension PersistentStore {
  /// Nobody else can write to it.
  public func observeRemoteChanges(
    _ handler: @escaping @Sendable (PersistentStoreRemoteChange) -> Void
  ) -> RemoteChangeObservation? { nil }
}

extension PersistentStoreCoordinator {
  /// What others write to the stores that are open here now, as it is noticed: with the history of the store it can be merged. Several writes
  /// may be told as one. The files are watched as long as somebody has such a sequence.
  ///
  /// ```swift
  /// for await change in coordinator.remoteChanges {
  ///   let news = try context.execute(.fetchHistory(after: token))
  ///   for transaction in news.transactions ?? [] { try context.mergeChanges(from: transaction) }
  ///   token = change.historyToken
  /// }
  /// ```
  public var remoteChanges: AsyncStream<PersistentStoreRemoteChange> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let observations = persistentStores.compactMap { store in
        store.observeRemoteChanges { continuation.yield($0) }
      }
      guard !observations.isEmpty else { return continuation.finish() }
      continuation.onTermination = { _ in for observation in observations { observation.cancel() } }
    }
  }
}
