import MoonbaseModel
import MoonbasePlatform

/// State for long chains of derived values, each computed from the next.
///
/// Each computation runs on the stack of the computation that needs it. If the chain becomes too long, an error unwinds
/// the stack to the first computation. It then computes the value at the end of the chain and starts again.
struct DeepDerivation {
  /// A derived attribute of an object.
  struct Place: Hashable {
    var object: ManagedObject
    var slot: Slot
  }

  /// The limit of nested computations.
  static let greatestCount = 32

  /// The value that was needed when the limit was reached, and the error that unwinds the stack.
  fileprivate(set) var needed: Place?
  fileprivate(set) var error: GraphError?
  /// The first computation, followed by the computations that run separately, each needed by its predecessor.
  fileprivate var waiting: [Place] = []
  /// Values whose computation failed, with the reasons.
  fileprivate var failures: [Place: any Error] = [:]
  /// Keeps the objects of computed values alive, because a value is dropped with its object.
  fileprivate var computed: [ManagedObject] = []

  /// Makes the needed value the next one to compute; false if no value is needed.
  fileprivate mutating func beginNeeded() -> Bool {
    guard let place = needed else { return false }
    waiting.append(place)
    (needed, error) = (nil, nil)
    return true
  }
}

extension ManagedObjectContext {
  /// Throws if one more nested computation would exceed the limit.
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

  /// Runs `compute`, and evaluates a chain that is too long from its end.
  func computingLongChains<Result>(
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
    _ = derivations.deep.beginNeeded()
    while derivations.deep.waiting.count > 1 { try computeLast() }
    while true {
      do {
        return try compute()
      } catch {
        guard derivations.deep.beginNeeded() else { throw error }
      }
      while derivations.deep.waiting.count > 1 { try computeLast() }
    }
  }

  /// Computes the last waiting value, unless the computation needs a further value first.
  private func computeLast() throws {
    guard let place = derivations.deep.waiting.last else { return }
    try HostWork.charge()
    var failure: (any Error)?
    do {
      _ = try place.object.read(place.slot, behavior: place.object.behavior())
    } catch {
      if derivations.deep.beginNeeded() { return }
      if (error as? any CodedError)?.code.endsRun ?? (error as? any ScriptFailure)?.endsRun ?? false { throw error }
      failure = error
    }
    derivations.deep.waiting.removeLast()
    derivations.deep.computed.append(place.object)
    // A value that is never valid would be computed again at each read, so the chain would never end.
    let name = place.object.entity.property(at: place.slot).name
    derivations.deep.failures[place] =
      failure ?? place.object.failure("needs too many others, and changes while they are computed", property: name)
  }
}

extension ManagedObjectContext {
  /// Records that a relationship points at an object, when it is set or read.
  @inline(__always)
  func noteLead(_ slot: Slot, of object: ManagedObject, to id: ManagedObjectID) {
    if deletions.unclearedReferences.watches(slot, of: object.entity.index, in: model) {
      noteLooseLead(slot, of: object, to: id)
    }
  }

  @inline(never)
  private func noteLooseLead(_ slot: Slot, of object: ManagedObject, to id: ManagedObjectID) {
    let property = object.entity.properties[slot]
    if property.isTransient { deletions.unclearedReferences.noteHolder(object) }
    guard property.relationship?.inverseSlot == nil, let new = registeredObject(for: id), new.isInserted else { return }
    deletions.unclearedReferences.note(slot, of: object, leadsTo: new)
  }

  /// Records that a to-many relationship may get members.
  func noteList(_ slot: Slot, of object: ManagedObject) {
    if deletions.unclearedReferences.watches(slot, of: object.entity.index, in: model) {
      deletions.unclearedReferences.noteHolder(object)
    }
  }
}

extension ManagedObjectContext {
  /// Records a list that is used to find the owners of stored values.
  func noteInput(_ object: ManagedObject, _ slot: Slot) {
    derivations.noteOwnerInput(object.objectID, version: object.rowVersion)
    if let state = object.relationships[slot] { noteInput(state, of: object, slot) }
  }

  /// Records a list that a getter reads.
  func noteInput(_ state: ToManyState, of object: ManagedObject, _ slot: Slot) {
    guard object.isList(slot), !object.objectID.isTemporaryID else { return }
    derivations.noteInput(of: SaveInputs.List(owner: object.objectID, slot: slot), state.contents)
  }
}
