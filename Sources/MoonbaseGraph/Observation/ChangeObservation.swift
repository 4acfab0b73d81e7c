import MoonbaseModel
import OrderedCollections

/// What changed in a context since the event before, with its objects.
public struct ContextChange {
  /// Objects that came, or came back.
  public let inserted: [ManagedObject]
  /// Objects of which something else changed.
  public let updated: [ManagedObject]
  /// Objects that are to go, and new ones that are gone again.
  public let deleted: [ManagedObject]
  /// Objects that were read anew, or whose changes were given up.
  public let refreshed: [ManagedObject]
  /// Whether the context forgot all of its objects (`reset`).
  public let isInvalidated: Bool

  /// The same by IDs, which may leave the context. New objects may have temporary ones.
  public var objectIDs: ChangedObjectIDs {
    ChangedObjectIDs(
      inserted: inserted.map(\.objectID), updated: updated.map(\.objectID), deleted: deleted.map(\.objectID),
      refreshed: refreshed.map(\.objectID), isInvalidated: isInvalidated)
  }

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && !isInvalidated
  }
}

/// An observation of what changes in a context, which goes on as long as this is kept.
public final class ChangeObservation {
  fileprivate let body: (ContextChange) -> Void
  fileprivate private(set) var isOver = false
  private let context: ContextReference

  fileprivate init(_ context: ManagedObjectContext, _ body: @escaping (ContextChange) -> Void) {
    (self.body, self.context) = (body, context.reference)
  }

  deinit { cancel() }

  /// Ends it: its closure is not called any more, not for the event either of which others are being told.
  public func cancel() {
    isOver = true
    guard let context = context.context else { return }
    context.changeEvent?.observers.removeAll { $0.pointer == ObjectIdentifier(self) }
    context.endUnheardChangeEvent()
  }
}

/// What changed since the last event. The journal tells of it, which is kept for that.
struct ChangeEvent {
  struct Observer {
    weak var observation: ChangeObservation?
    let pointer: ObjectIdentifier
  }

  fileprivate(set) var observers: [Observer] = []
  /// Who reads of changes elsewhere, by IDs; nil where nobody ever did.
  fileprivate var sequences: NewsListeners<ChangedObjectIDs>?
  private var inserted: OrderedSet<ManagedObject> = []
  private var updated: OrderedSet<ManagedObject> = []
  private var deleted: OrderedSet<ManagedObject> = []
  var refreshed: OrderedSet<ManagedObject> = []
  private var isInvalidated = false
  /// By object and slot: what attributes and to-one relationships had before.
  private var former: [ObjectIdentifier: [Slot: Value]] = [:]
  /// How many changes of the journal were looked at.
  private var position = 0
  fileprivate var isTelling = false
  /// The former values of the event that observers are being told of.
  fileprivate var told: [ObjectIdentifier: [Slot: Value]] = [:]

  /// Takes in what the journal has; `isLast` says that this goes now.
  mutating func take(_ changes: ChangeSequence, isLast: Bool) {
    for change in changes.dropFirst(position) where change.isChange { note(change) }
    position = isLast ? 0 : changes.count
  }

  private mutating func note(_ change: Change) {
    let object = change.object
    switch change.former {
    case .absence:
      if deleted.remove(object) == nil { inserted.append(object) } else { updated.append(object) }
    case .presence:
      if inserted.remove(object) == nil { deleted.append(object) }
    case .flags(let flags):
      // One that left has no state any more, and another change tells of it.
      if object.context == nil { return }
      let wasDeleted = flags.state.contains(.deleted)
      if object.isDeleted, !wasDeleted, !inserted.contains(object) { deleted.append(object) }
      if !object.isDeleted, wasDeleted, deleted.remove(object) == nil { inserted.append(object) }
    case .value(let own):
      updated.append(object)
      noteFormer(own.value ?? object.snapshot?.values[own.slot] ?? .null, own.slot, of: object)
    default: updated.append(object)
    }
  }

  private mutating func noteFormer(_ value: Value, _ slot: Slot, of object: ManagedObject) {
    if former[ObjectIdentifier(object)]?[slot] == nil { former[ObjectIdentifier(object), default: [:]][slot] = value }
  }

  mutating func rollback(_ objects: [ManagedObject]) {
    for object in objects {
      updated.remove(object)
      deleted.remove(object)
      refreshed.append(object)
    }
  }

  /// Somebody else deleted the object.
  mutating func leave(_ object: ManagedObject) { deleted.append(object) }

  mutating func invalidateAll() {
    (inserted, updated, deleted, refreshed, former) = ([], [], [], [], [:])
    isInvalidated = true
  }

  /// The values that an object had before, in slots that changed since. Changes that this event has not taken in yet
  /// count too. While observers are called with an event, the changes of that event count too.
  func formerValues(of object: ManagedObject, _ changes: ChangeSequence) -> [Slot: Value] {
    let number = ObjectIdentifier(object)
    var values = (told[number] ?? [:]).merging(former[number] ?? [:]) { earlier, _ in earlier }
    for change in changes.dropFirst(position) where change.object === object {
      guard case .value(let own) = change.former, values[own.slot] == nil else { continue }
      values[own.slot] = own.value ?? object.snapshot?.values[own.slot] ?? .null
    }
    return values
  }

  /// Takes out what changed; the next event begins.
  fileprivate mutating func end(in context: ManagedObjectContext) -> ContextChange {
    let came = inserted.filter { $0.context === context && !$0.isDeleted }
    let others = updated.filter { $0.context === context && !$0.isDeleted && !came.contains($0) }
    let change = ContextChange(
      inserted: Array(came), updated: Array(others), deleted: Array(deleted),
      refreshed: refreshed.filter { $0.context === context && !others.contains($0) && !came.contains($0) },
      isInvalidated: isInvalidated)
    told = former
    (inserted, updated, deleted, refreshed, former, isInvalidated) = ([], [], [], [], [:], false)
    return change
  }
}

extension ManagedObjectContext {
  /// Calls a closure with the objects that changed, at the end of each event: `processPendingChanges`, before and after a save, and after
  /// `undo`, `redo`, `rollback` and `reset`.
  ///
  /// It may look at objects and change them, which belongs to the next event. As long as it is kept, the context notes each change, as it
  /// does for an undo manager, and saves are not made ahead.
  ///
  /// ```swift
  /// let observation = context.observeChanges { change in list.reload(change.updated) }
  /// ```
  public func observeChanges(_ body: @escaping (ContextChange) -> Void) -> ChangeObservation {
    let observation = ChangeObservation(self, body)
    noteChanges { $0.observers.append(.init(observation: observation, pointer: ObjectIdentifier(observation))) }
    return observation
  }

  /// From now on changes are noted, for somebody who is added.
  private func noteChanges(for add: (inout ChangeEvent) -> Void) {
    var event = changeEvent ?? ChangeEvent()
    add(&event)
    changeEvent = event
    if journal.isSettled { settleUndo() }
  }

  /// A place among those that read of changes elsewhere.
  func changeSequence() -> AsyncStream<ChangedObjectIDs> {
    let sequences = changeEvent?.sequences ?? NewsListeners()
    let stream = sequences.stream()
    noteChanges { $0.sequences = sequences }
    return stream
  }

  func endChangeSequences() {
    changeEvent?.sequences = nil
    endUnheardChangeEvent()
  }

  /// Where nobody wants to know any more, nothing is noted. Who reads elsewhere goes without a word.
  func endUnheardChangeEvent() {
    guard let event = changeEvent, event.observers.isEmpty, event.sequences?.isEmpty ?? true else { return }
    changeEvent = nil
    if journal.isSettled { settleUndo() }
  }

  /// The journal is about to lose what it has.
  func noteEvent(isLast: Bool = true) {
    guard changeEvent != nil else { return }
    changeEvent?.take(journal.all, isLast: isLast)
  }

  /// An event ends: observers are told what changed.
  func endChangeEvent() {
    guard changeEvent != nil, changeEvent?.isTelling == false, phase == nil, hookDepth == 0, journal.isSettled else {
      return
    }
    endUnheardChangeEvent()
    if changeEvent == nil { return }
    noteEvent(isLast: undoManager == nil)
    if undoManager == nil, journal.base != 0 { restartBase() }
    defer { changeEvent?.told = [:] }
    guard let change = changeEvent?.end(in: self), !change.isEmpty, let observers = changeEvent?.observers else {
      return
    }
    changeEvent?.sequences?.tell(change.objectIDs)
    changeEvent?.isTelling = true
    defer { changeEvent?.isTelling = false }
    for observer in observers {
      guard let observation = observer.observation, !observation.isOver else { continue }
      observation.body(change)
    }
    tellObservers()
  }
}
