import MoonbasePlatform

/// A save or a fetch of a context over stores, for figures of a program.
public struct GraphOperation: Sendable {
  /// What was asked for.
  public enum Kind: String, Sendable, CaseIterable {
    case save, fetch, count
  }

  /// What was asked for.
  public var kind: Kind
  /// The entity of a request; nil of a save.
  public var entity: String?
  /// How long it took.
  public var seconds: Double
  /// Why it failed.
  public var error: (any Error)?
}

/// Receives each save and fetch of the contexts of a coordinator, on their threads.
///
/// It receives no walks (`fetchedObjects`) and no reads of faults.
public protocol GraphMeter: Sendable {
  /// An operation has ended.
  func record(_ operation: GraphOperation)
}

extension PersistentStoreCoordinator {
  /// Receives the saves and fetches of contexts. Nil costs nothing.
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
    guard parent == nil, let meter = source.meter else { return try body() }
    let begin = ContinuousClock.now
    func record(_ error: (any Error)?) {
      let seconds = (ContinuousClock.now - begin) / .seconds(1)
      meter.record(GraphOperation(kind: kind, entity: entity, seconds: seconds, error: error))
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
