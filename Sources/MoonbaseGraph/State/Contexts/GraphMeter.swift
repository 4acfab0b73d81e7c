import MoonbasePlatform

/// A save, fetch or read of faults by a context, for measurements.
public struct GraphOperation: Sendable {
  /// The kind of work.
  public enum Kind: String, Sendable, CaseIterable {
    /// `fault` is the reading of one row, or of a batch of rows, that the row cache does not have.
    case save, fetch, count, fault
  }

  /// The kind of work.
  public var kind: Kind
  /// The entity of the request; nil for a save.
  public var entity: String?
  /// The duration of the operation.
  public var duration: Duration
  /// The error of a failed operation.
  public var error: (any Error)?

  /// Makes the record of a completed operation.
  public init(kind: Kind, entity: String? = nil, duration: Duration, error: (any Error)? = nil) {
    (self.kind, self.entity, self.duration, self.error) = (kind, entity, duration, error)
  }
}

/// Receives each save, fetch and read of faults of a coordinator's contexts, on their threads.
///
/// Iterations over `fetchedObjects` are not reported.
public protocol GraphMeter: Sendable {
  /// Called after an operation.
  func record(_ operation: GraphOperation)
}

extension PersistentStoreCoordinator {
  /// The meter for saves, fetches and reads of faults by contexts. Without a meter, nothing is measured.
  public var meter: (any GraphMeter)? {
    get { meterPlace.withLock { $0 } }
    set { meterPlace.withLock { $0 = newValue } }
  }
}

extension PersistentStoreCoordinator {
  /// Runs an operation and reports it to the meter, if there is one.
  func measuring<Result>(
    _ kind: GraphOperation.Kind, of entity: String? = nil, _ body: () throws -> Result
  ) rethrows -> Result {
    guard let meter else { return try body() }
    let begin = ContinuousClock.now
    func record(_ error: (any Error)?) {
      meter.record(
        GraphOperation(kind: kind, entity: entity, duration: ContinuousClock.now - begin, error: error))
    }
    do {
      let result = try body()
      record(nil)
      return result
    } catch {
      record(error)
      throw error
    }
  }
}
