extension PersistentStoreCoordinator {
  /// Remote changes of the stores that are open here now, as they are noticed. The history of a store shows the
  /// changes, ready for a merge. Several writes may appear as one element. The files are watched as long as a sequence
  /// exists.
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
