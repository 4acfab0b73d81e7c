/// The objects of a context that changed since the previous event.
public struct ContextChange {
  /// Objects that were inserted, or whose removal was undone.
  public let inserted: [ManagedObject]
  /// Objects that changed in any other way.
  public let updated: [ManagedObject]
  /// Objects marked for deletion, and new objects that were removed.
  public let deleted: [ManagedObject]
  /// Objects that were refreshed, or whose changes were discarded.
  public let refreshed: [ManagedObject]
  /// Whether all objects were removed from the context (`reset`).
  public let isInvalidated: Bool

  /// The IDs of the objects, usable outside the context. New objects may have temporary IDs.
  public var objectIDs: ChangedObjectIDs {
    ChangedObjectIDs(
      inserted: inserted.map(\.objectID), updated: updated.map(\.objectID), deleted: deleted.map(\.objectID),
      refreshed: refreshed.map(\.objectID), isInvalidated: isInvalidated)
  }

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && !isInvalidated
  }
}

/// An observation of the changes in a context. It ends when it is cancelled or released.
public final class ChangeObservation {
  let body: (ContextChange) -> Void
  private(set) var isOver = false
  private let context: ContextReference

  fileprivate init(_ context: ManagedObjectContext, _ body: @escaping (ContextChange) -> Void) {
    (self.body, self.context) = (body, context.reference)
  }

  deinit { cancel() }

  /// Ends the observation. Its closure is not called any more, even if other observers are being notified of an event.
  public func cancel() {
    isOver = true
    guard let context = context.context else { return }
    context.observations.changeEvent?.observers.removeAll { $0.pointer == ObjectIdentifier(self) }
    context.endUnheardChangeEvent()
  }
}

extension ManagedObjectContext {
  /// Calls a closure with the changed objects at the end of each event: after `processPendingChanges`, before and after
  /// a save, and after `undo`, `redo`, `rollback` and `reset`.
  ///
  /// The closure may read and change objects; its changes belong to the next event. During the observation the context
  /// records each change, as for an undo manager, and does not save ahead.
  ///
  /// ```swift
  /// let observation = context.observeChanges { change in list.reload(change.updated) }
  /// ```
  public func observeChanges(_ body: @escaping (ContextChange) -> Void) -> ChangeObservation {
    let observation = ChangeObservation(self, body)
    noteChanges { $0.observers.append(.init(observation: observation, pointer: ObjectIdentifier(observation))) }
    return observation
  }

  /// Adds an observer or sequence, and records changes from now on.
  private func noteChanges(for add: (inout ChangeEvent) -> Void) {
    // Changes from before the observation are not reported.
    if observations.changeEvent == nil { undoManager?.beginSeparateGroup() }
    var event = observations.changeEvent ?? ChangeEvent(after: journal.count)
    add(&event)
    observations.changeEvent = event
    if journal.isSettled { settleUndo() }
  }

  /// A new sequence of changed IDs.
  func changeSequence() -> AsyncStream<ChangedObjectIDs> {
    let sequences = observations.changeEvent?.sequences ?? NotificationListeners()
    let stream = sequences.stream()
    noteChanges { $0.sequences = sequences }
    return stream
  }

  /// Ends the sequences of changed IDs.
  func endChangeSequences() {
    observations.changeEvent?.sequences = nil
    endUnheardChangeEvent()
  }

  /// Stops recording changes if there are no observers or sequences left. Sequences may end without notice.
  func endUnheardChangeEvent() {
    guard let event = observations.changeEvent, event.observers.isEmpty, event.sequences?.isEmpty ?? true else {
      return
    }
    observations.changeEvent = nil
    if journal.isSettled { settleUndo() }
  }

  /// Collects the journal's entries before the journal is cleared.
  func noteEvent(isLast: Bool = true) {
    guard observations.changeEvent != nil else { return }
    observations.changeEvent?.collect(journal.all, isLast: isLast)
  }

  /// Records which objects exist, before an operation that the journal does not record removes or restores them.
  func meetInEvent(_ objects: some Sequence<ManagedObject>) {
    guard observations.changeEvent != nil, journal.isSettled else { return }
    noteEvent(isLast: false)
    for object in objects {
      observations.changeEvent?.meet(object, wasThere: object.context === self && !object.isDeleted)
    }
  }

  /// Ends an event, and notifies observers of its changes.
  package func endChangeEvent() {
    guard observations.changeEvent != nil, observations.changeEvent?.isTelling == false, running.phase == nil,
      running.hookDepth == 0, journal.isSettled
    else {
      return
    }
    endUnheardChangeEvent()
    if observations.changeEvent == nil { return }
    noteEvent(isLast: undoManager == nil)
    // The journal records no changes of objects that were inserted since its base, so the next event gets a new base.
    if let undoManager { undoManager.beginSeparateGroup() } else if journal.base != 0 { restartBase() }
    defer { observations.changeEvent?.forgetTold() }
    guard let change = observations.changeEvent?.end(in: self), !change.isEmpty,
      let observers = observations.changeEvent?.observers
    else {
      return
    }
    observations.changeEvent?.sequences?.tell(change.objectIDs)
    observations.changeEvent?.isTelling = true
    defer { observations.changeEvent?.isTelling = false }
    for observer in observers {
      guard let observation = observer.observation, !observation.isOver else { continue }
      observation.body(change)
    }
    tellObservers()
  }
}
