import MoonbaseModel
import OrderedCollections

extension UndoPart {
  /// What changes say that objects of a context were before them. They are the last ones that were made.
  init(_ changes: ChangeSequence, in context: ManagedObjectContext, epoch: Int, idCount: Int) {
    var reader = JournalReader()
    for change in changes.reversed() { reader.read(change) }
    let (passages, steps) = reader.finish(in: context)
    self.init(passages: passages, steps: steps, epoch: epoch, idCount: idCount)
  }
}

/// Reads changes from the last one to the first.
private struct JournalReader {
  private struct Place: Hashable {
    let object: ObjectIdentifier
    let slot: Slot
    var isDelayed = false
  }

  /// The last step first. Of a value only what it was at the beginning counts.
  private var steps: [UndoStep?] = []
  private var places: [Place: Int] = [:]
  /// Transient properties that came to count as changed, or ceased to; nil for those that did at the beginning.
  private var unmarkings: OrderedDictionary<Place, UndoStep?> = [:]
  /// The orders of relationships at the beginning, with their places among the steps.
  private var orders: [Place: (index: Int, contents: ToManyState.Contents)] = [:]
  /// Whether objects were there before what was read last, in the reverse order of the first that is known of each.
  private var presence: [(object: ManagedObject, wasThere: Bool)] = []
  private var known: [ObjectIdentifier: Int] = [:]
  /// The rows that objects had then, where they have others by now.
  private var rows: [ObjectIdentifier: Snapshot?] = [:]
  /// Whether destinations were some after what is read: for those of which it is not known before.
  private var memberships: [Membership: Bool] = [:]

  private struct Membership: Hashable {
    let state: ObjectIdentifier
    let id: ManagedObjectID
  }

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
      // To come or to go was a change: before it was the other one.
      let wasMember =
        step.isMember ?? !(memberships[place] ?? (state.step(of: step.id, slot: step.slot).isMember ?? false))
      memberships[place] = wasMember
      let former = UndoStep.Former.member(
        step.id, isMember: wasMember, index: step.index, isReordered: step.isReordered)
      steps.append(UndoStep(object: object, slot: step.slot, former: former))
    case .order(let slot, _, let contents):
      // An earlier order says where all stand, wherever a later one put them.
      orders[Place(object: ObjectIdentifier(object), slot: slot)] = (steps.count, contents)
      steps.append(UndoStep(object: object, slot: slot, former: .order([], isReordered: contents.isReordered)))
    case .absence: note(object, wasThere: false)
    case .presence(let state, _): note(object, wasThere: !state.contains(.deleted))
    case .members, .row: break
    }
  }

  private func row(of object: ManagedObject) -> Snapshot? {
    if let known = rows[ObjectIdentifier(object)] { return known }
    return object.snapshot
  }

  private mutating func replace(_ step: UndoStep, isDelayed: Bool) {
    let place = Place(object: ObjectIdentifier(step.object), slot: step.slot, isDelayed: isDelayed)
    if let later = places.updateValue(steps.count, forKey: place) { steps[later] = nil }
    steps.append(step)
  }

  private mutating func note(_ object: ManagedObject, wasThere: Bool) {
    if let index = known[ObjectIdentifier(object)] { return presence[index].wasThere = wasThere }
    known[ObjectIdentifier(object)] = presence.count
    presence.append((object, wasThere))
  }

  func finish(in context: ManagedObjectContext) -> (passages: [UndoPassage], steps: [UndoStep]) {
    var passages: [UndoPassage] = []
    for (object, wasThere) in presence.reversed() {
      let isThere = object.context === context && !object.state.contains(.deleted)
      // Who left for other reasons, because others deleted it for example, has nothing to come back with.
      if isThere == wasThere || wasThere && object.context == nil && !object.isWeighed { continue }
      passages.append(UndoPassage(object, wasThere: wasThere))
    }
    let kept = steps.indices.reversed().compactMap { index in steps[index].flatMap { self.kept($0, at: index) } }
    // What comes first is put back last: to put a value back marks its property.
    return (passages, unmarkings.values.compactMap { $0 }.filter { !came($0.object) } + kept)
  }

  /// Whether an object was not there at the beginning.
  private func came(_ object: ManagedObject) -> Bool {
    known[ObjectIdentifier(object)].map { !presence[$0].wasThere } ?? false
  }

  /// A step, with a value that is read where there was only a token for it; nil for one that says what is so anyway.
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
    // A store may take away what the token stands for, once another value is saved. What cannot be read now fails the undoing, unless it
    // can be then.
    let loaded = (try? object.loaded(value, slot: step.slot)) ?? value
    return UndoStep(
      object: object, slot: step.slot, former: .value(loaded, transformed: transformed, silently: silently))
  }
}
