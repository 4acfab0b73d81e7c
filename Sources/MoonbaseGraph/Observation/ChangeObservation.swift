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
  let body: (ContextChange) -> Void
  private(set) var isOver = false
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
    // Changes from before the observation are not reported.
    if changeEvent == nil { undoManager?.beginApart() }
    var event = changeEvent ?? ChangeEvent(after: journal.count)
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

  /// Notes which objects are here, before they leave or come back in a way that the journal does not record.
  func meetInEvent(_ objects: some Sequence<ManagedObject>) {
    guard changeEvent != nil, journal.isSettled else { return }
    noteEvent(isLast: false)
    for object in objects { changeEvent?.meet(object, wasThere: object.context === self && !object.isDeleted) }
  }

  /// An event ends: observers are told what changed.
  func endChangeEvent() {
    guard changeEvent != nil, changeEvent?.isTelling == false, phase == nil, hookDepth == 0, journal.isSettled else {
      return
    }
    endUnheardChangeEvent()
    if changeEvent == nil { return }
    noteEvent(isLast: undoManager == nil)
    // The journal records no changes of objects that were inserted since its base, so the next event gets a new base.
    if let undoManager { undoManager.beginApart() } else if journal.base != 0 { restartBase() }
    defer { changeEvent?.forgetTold() }
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
