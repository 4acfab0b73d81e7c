import MoonbaseModel
import MoonbasePlatform

/// Derived values that are computed from each other in a long chain, over any number of objects.
///
/// Each computation lies on the stack of the one that needs it. Where the chain becomes too long, an error leads out of all of
/// them to the first one, which computes what was needed at the end of the chain, and then begins again.
struct DeepDerivation {
  struct Place: Hashable {
    var object: ManagedObject
    var slot: Slot
  }

  /// So many computations may lie within each other.
  static let greatestCount = 32

  /// The value that was needed where the chain became too long, and the error that leads out of it.
  fileprivate(set) var needed: Place?
  fileprivate(set) var error: GraphError?
  /// The first computation, and those that are computed by themselves, each needed by the one before it.
  fileprivate var waiting: [Place] = []
  /// Values that cannot be read, with the reasons.
  fileprivate var failures: [Place: any Error] = [:]
  /// The objects of computed values. A value is kept as long as its object is.
  fileprivate var computed: [ManagedObject] = []

  fileprivate mutating func takeNeeded() -> Bool {
    guard let place = needed else { return false }
    waiting.append(place)
    (needed, error) = (nil, nil)
    return true
  }
}

extension ManagedObjectContext {
  /// Throws where the chain of computations is too long for another one.
  func checkDepth(of object: ManagedObject, _ slot: Slot) throws {
    guard derivations.computations.count >= DeepDerivation.greatestCount else { return }
    let place = DeepDerivation.Place(object: object, slot: slot)
    if let failure = derivations.deep.failures[place] { throw failure }
    let name = object.entity.property(at: slot).name
    if derivations.deep.waiting.contains(place) {
      let names = derivations.computations.map(\.name)
      throw object.failure("needs itself: \(Self.way(names)) -> \(names[0])", property: name)
    }
    let error = derivations.deep.error ?? object.failure("is at the end of a long chain of values", property: name)
    (derivations.deep.needed, derivations.deep.error) = (derivations.deep.needed ?? place, error)
    throw error
  }

  /// Computes the values of a long chain from its end, and then the value itself.
  func computingDeepOnes<Result>(
    behind object: ManagedObject, _ slot: Slot, _ compute: () throws -> Result
  ) throws -> Result {
    guard derivations.computations.isEmpty, derivations.deep.waiting.isEmpty else { return try compute() }
    do {
      return try compute()
    } catch {
      guard derivations.deep.needed != nil else { throw error }
    }
    defer { derivations.deep = DeepDerivation() }
    derivations.deep.waiting = [.init(object: object, slot: slot)]
    _ = derivations.deep.takeNeeded()
    while derivations.deep.waiting.count > 1 { try computeLast() }
    while true {
      do {
        return try compute()
      } catch {
        guard derivations.deep.takeNeeded() else { throw error }
      }
      while derivations.deep.waiting.count > 1 { try computeLast() }
    }
  }

  /// Computes the last of those that wait, unless it needs another one first.
  private func computeLast() throws {
    guard let place = derivations.deep.waiting.last else { return }
    try HostWork.charge()
    var failure: (any Error)?
    do {
      _ = try place.object.read(place.slot, behavior: place.object.behavior())
    } catch {
      if derivations.deep.takeNeeded() { return }
      if (error as? any CodedError)?.code.endsRun ?? (error as? any ScriptFailure)?.endsRun ?? false { throw error }
      failure = error
    }
    derivations.deep.waiting.removeLast()
    derivations.deep.computed.append(place.object)
    // What does not hold is computed whenever it is read, and a chain that is too long would lead here for ever.
    let name = place.object.entity.property(at: place.slot).name
    derivations.deep.failures[place] =
      failure ?? place.object.failure("needs too many others, and changes while they are computed", property: name)
  }
}
