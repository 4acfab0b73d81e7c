import MoonbaseModel
import OrderedCollections

/// Undo parts from the journal.
extension UndoPart {
  /// Collects former states from the newest changes of a context. `epoch` and `idCount` are those of the undo manager
  /// at this time.
  init(_ changes: ChangeSequence, in context: ManagedObjectContext, epoch: Int, idCount: Int) {
    var reader = JournalReader()
    for change in changes.reversed() { reader.read(change) }
    let (passages, steps) = reader.finish(in: context)
    self.init(passages: passages, steps: steps, epoch: epoch, idCount: idCount)
  }
}

/// Reads changes from the newest to the oldest.
///
/// A sequence of many changes becomes few steps: for each value only the oldest former state matters, for an order the
/// oldest order, and for an object only whether it existed. Used once.
private struct JournalReader {
  /// A property of an object.
  private struct Place: Hashable {
    /// The object.
    let object: ObjectIdentifier
    /// The property.
    let slot: Slot
    /// Whether the value is one whose transformation is delayed.
    var isDelayed = false
  }

  /// The steps, newest first. For a value, only the oldest former state counts.
  private var steps: [UndoStep?] = []
  /// The index of each value's step.
  private var places: [Place: Int] = [:]
  /// Transient properties whose mark as changed changed; nil for those that were marked at the beginning.
  private var unmarkings: OrderedDictionary<Place, UndoStep?> = [:]
  /// The oldest orders of relationships, with their indexes among the steps.
  private var orders: [Place: (index: Int, contents: ToManyState.Contents)] = [:]
  /// Whether objects existed before the oldest change read so far, in reverse order of their first known change.
  private var presence: [(object: ManagedObject, wasThere: Bool)] = []
  /// The index of each object in `presence`.
  private var known: [ObjectIdentifier: Int] = [:]
  /// The former rows of objects whose row changed.
  private var rows: [ObjectIdentifier: Snapshot?] = [:]
  /// Whether objects were destinations after the changes read so far, where the former membership is unknown.
  private var memberships: [Membership: Bool] = [:]

  /// A possible destination of a relationship.
  private struct Membership: Hashable {
    /// The state of the relationship.
    let state: ObjectIdentifier
    /// The destination.
    let id: ManagedObjectID
  }

  /// Reads a change, whose former state replaces that of later changes. Call it for each change, newest first.
  mutating func read(_ change: Change) {
    let object = change.object
    if case .row(let reading) = change.former { rows[ObjectIdentifier(object)] = .some(reading.row.snapshot) }
    guard !change.isUnregistered else { return }
    switch change.former {
    case .value(let own):
      guard !object.entity.properties[own.slot].isDerived else { return }
      let value = own.value ?? row(of: object)?.values[own.slot] ?? .null
      let former = UndoStep.Former.value(value, transformed: own.transformed, silently: change.isSilent)
      replace(UndoStep(object: object, slot: own.slot, former: former), isDelayed: false)
    case .delayed(let slot, let value):
      replace(UndoStep(object: object, slot: slot, former: .delayed(value)), isDelayed: true)
    case .flags(let flags):
      note(object, wasThere: !flags.state.contains(.deleted))
      guard let slot = flags.slot, object.entity.properties[slot].isTransient else { return }
      let step = flags.isMarked ? nil : UndoStep(object: object, slot: slot, former: .unmarked)
      unmarkings.updateValue(step, forKey: Place(object: ObjectIdentifier(object), slot: slot))
    case .destination(let state, let step):
      let place = Membership(state: ObjectIdentifier(state), id: step.id)
      // Adding or removing was a change, so the former membership was the opposite.
      let wasMember =
        step.isMember ?? !(memberships[place] ?? (state.step(of: step.id, slot: step.slot).isMember ?? false))
      memberships[place] = wasMember
      let former = UndoStep.Former.member(
        step.id, isMember: wasMember, index: step.index, isReordered: step.isReordered)
      steps.append(UndoStep(object: object, slot: step.slot, former: former))
    case .order(let slot, _, let contents):
      // An earlier order determines all positions, whatever a later order says.
      orders[Place(object: ObjectIdentifier(object), slot: slot)] = (steps.count, contents)
      steps.append(UndoStep(object: object, slot: slot, former: .order([], isReordered: contents.isReordered)))
    case .absence: note(object, wasThere: false)
    case .presence(let state, _): note(object, wasThere: !state.contains(.deleted))
    case .members, .row: break
    }
  }

  /// The row before the changes read so far.
  private func row(of object: ManagedObject) -> Snapshot? {
    if let known = rows[ObjectIdentifier(object)] { return known }
    return object.snapshot
  }

  /// Replaces a later step for the same value.
  private mutating func replace(_ step: UndoStep, isDelayed: Bool) {
    let place = Place(object: ObjectIdentifier(step.object), slot: step.slot, isDelayed: isDelayed)
    if let later = places.updateValue(steps.count, forKey: place) { steps[later] = nil }
    steps.append(step)
  }

  /// Notes whether the object existed.
  private mutating func note(_ object: ManagedObject, wasThere: Bool) {
    if let index = known[ObjectIdentifier(object)] { return presence[index].wasThere = wasThere }
    known[ObjectIdentifier(object)] = presence.count
    presence.append((object, wasThere))
  }

  /// The insertions, deletions and steps that remain after reading all changes. In the order of the changes, oldest
  /// first.
  func finish(in context: ManagedObjectContext) -> (passages: [UndoPresenceChange], steps: [UndoStep]) {
    var passages: [UndoPresenceChange] = []
    for (object, wasThere) in presence.reversed() {
      let isThere = object.context === context && !object.state.contains(.deleted)
      // An object that left for other reasons, for example a deletion elsewhere, has no values to return with.
      if isThere == wasThere || wasThere && object.context == nil && !object.isWeighed { continue }
      passages.append(UndoPresenceChange(object, wasThere: wasThere))
    }
    let kept = steps.indices.reversed().compactMap { index in steps[index].flatMap { self.kept($0, at: index) } }
    // The first steps are restored last, because restoring a value marks its property.
    return (passages, unmarkings.values.compactMap { $0 }.filter { !came($0.object) } + kept)
  }

  /// Whether an object did not exist at the beginning. Its values need no steps then, because it is removed as a whole.
  private func came(_ object: ManagedObject) -> Bool {
    known[ObjectIdentifier(object)].map { !presence[$0].wasThere } ?? false
  }

  /// A step whose value is read if the row had a token for it; nil if the step would change nothing. Reads the data of
  /// tokens now, as long as it exists.
  private func kept(_ step: UndoStep, at index: Int) -> UndoStep? {
    let object = step.object
    if came(object) { return nil }
    if case .order(_, let isReordered) = step.former {
      let first = orders[Place(object: ObjectIdentifier(object), slot: step.slot)]
      guard let first, first.index == index else { return nil }
      let former = UndoStep.Former.order(first.contents.memberIDs, isReordered: isReordered)
      return UndoStep(object: object, slot: step.slot, former: former)
    }
    guard case .value(let value, let transformed, let silently) = step.former else { return step }
    if object.hasLiveValues || object.page != nil, object.context != nil, object.holds(value, slot: step.slot) {
      return nil
    }
    // A store may delete the data of a token once another value is saved. A value that cannot be read now fails the
    // undo, unless it can be read then.
    let loaded = (try? object.loaded(value, slot: step.slot)) ?? value
    return UndoStep(
      object: object, slot: step.slot, former: .value(loaded, transformed: transformed, silently: silently))
  }
}
