import MoonbasePlatform

/// A save, a fetch or a read of faults of a context over stores, for figures of a program.
public struct GraphOperation: Sendable {
  /// The kind of work.
  public enum Kind: String, Sendable, CaseIterable {
    /// `fault` is the reading of one row, or of a batch of rows, that the row cache does not have.
    case save, fetch, count, fault
  }

  /// The kind of work.
  public var kind: Kind
  /// The entity of a request; nil of a save.
  public var entity: String?
  /// How long it took.
  public var duration: Duration
  /// Why it failed.
  public var error: (any Error)?

  /// Makes an operation that has ended.
  public init(kind: Kind, entity: String? = nil, duration: Duration, error: (any Error)? = nil) {
    (self.kind, self.entity, self.duration, self.error) = (kind, entity, duration, error)
  }
}

/// Receives each save, fetch and read of faults of the contexts of a coordinator, on their threads.
///
/// It receives no walks (`fetchedObjects`).
public protocol GraphMeter: Sendable {
  /// An operation has ended.
  func record(_ operation: GraphOperation)
}

extension PersistentStoreCoordinator {
  /// Receives the saves, fetches and reads of faults of contexts. Nil costs nothing.
  public var meter: (any GraphMeter)? {
    get { meterPlace.withLock { $0 } }
    set { meterPlace.withLock { $0 = newValue } }
  }
}

extension ManagedObjectContext {
  /// Runs an operation, and tells the meter, where there is one.
  func measuring<Result>(
    _ kind: GraphOperation.Kind, of entity: String? = nil, _ body: () throws -> Result
  ) rethrows -> Result {
    guard parent == nil else { return try body() }
    return try source.measuring(kind, of: entity, body)
  }
}

extension PersistentStoreCoordinator {
  /// Runs an operation, and tells the meter, where there is one.
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
