public import MoonbasePlatform

/// A write to a store from elsewhere: by another process, or through another store object of the same file in this
/// process (`NSPersistentStoreRemoteChange` of Core Data).
public struct PersistentStoreRemoteChange: Sendable, Hashable {
  /// The identifier of the store.
  public let storeID: String
  /// The location of the store's file.
  public let url: URL?
  /// A token that stands after the newest transaction in the store's history; nil if the store keeps no history.
  public let historyToken: PersistentHistoryToken?

  /// Makes a notification, for stores that can observe such writes.
  public init(storeID: String, url: URL?, historyToken: PersistentHistoryToken?) {
    (self.storeID, self.url, self.historyToken) = (storeID, url, historyToken)
  }
}

/// The registration of a handler for remote changes, active until it is cancelled or released.
public final class RemoteChangeObservation: Sendable {
  private let end: @Sendable () -> Void

  /// Makes a registration, for stores that can observe such writes; `end` may be called more than once.
  public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// Ends the registration.
  public func cancel() { end() }
}

extension PersistentStore {
  /// Nil: the store cannot be written from elsewhere.
  public func observeRemoteChanges(
    _ handler: @escaping @Sendable (PersistentStoreRemoteChange) -> Void
  ) -> RemoteChangeObservation? { nil }
}
