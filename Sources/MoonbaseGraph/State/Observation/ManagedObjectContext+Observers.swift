import MoonbaseModel
import OrderedCollections

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

/// Events of a context for tasks on any executor, as asynchronous sequences of IDs, which are usable outside the
/// context.
///
/// Each access returns a new sequence that begins now, and ends with its task or the context. Pending elements are
/// bounded: more than 64 are combined into one with each ID once, and more than 65,536 IDs are replaced by
/// `isUnspecified`.
extension ManagedObjectContext {
  /// The IDs of changed objects at the end of each event, as for `observeChanges`. New objects have temporary IDs.
  ///
  /// While a sequence exists, the context records each change, as for an undo manager, and does not save ahead.
  ///
  /// ```swift
  /// let changes = context.didChangeObjectIDs
  /// Task { for await change in changes { await index.note(change.updated) } }
  /// ```
  public var didChangeObjectIDs: AsyncStream<ChangedObjectIDs> { lifetime.isClosed ? Self.ended() : changeSequence() }

  /// The IDs of the objects to be saved, before each save, including saves that then fail. New objects have temporary
  /// IDs.
  ///
  /// While a sequence exists, the context does not save ahead.
  public var willSaveObjectIDs: AsyncStream<ChangedObjectIDs> {
    lifetime.isClosed ? Self.ended() : sequences.willSave.stream()
  }

  /// The IDs of the objects that this context saved, after each save. For all contexts of the coordinator, use its
  /// `saves`.
  public var didSaveObjectIDs: AsyncStream<SavedObjectIDs> {
    lifetime.isClosed ? Self.ended() : sequences.didSave.stream()
  }

  private var sequences: SaveSequences {
    let known = observations.sequences ?? SaveSequences()
    observations.sequences = known
    return known
  }

  private static func ended<Element>() -> AsyncStream<Element> { AsyncStream { $0.finish() } }

  /// Ends all sequences.
  func endSequences() {
    observations.sequences = nil
    endChangeSequences()
  }
}

extension ManagedObjectContext {
  /// Notifies observers at the end of a call that changed objects, if any are waiting.
  @inline(__always)
  func tellObservers() {
    if observations.hasNews { tellWaitingObservers() }
  }

  @inline(never)
  private func tellWaitingObservers() {
    // During a save or hook, observers are notified at its end.
    guard running.phase == nil, running.hookDepth == 0 else { return }
    observations.observers.tell(in: self)
    if derivations.hasListeners, observations.observers.areQuiet { observations.listeners.tell(in: self) }
    settleObservers()
  }

  /// Records a changed facet for the observers of an object.
  func note(
    _ facet: Facet, of object: ManagedObject, because cause: Derivations.Cause, member: ManagedObjectID?
  ) {
    observations.observers.note(facet, of: object, because: cause, member: member)
    if observations.observers.areWaiting { observations.hasNews = true }
  }

  /// Records a reload of extensions: computed attributes may have other values, or may have been added or removed.
  func noteReload(from former: ResolvedModel) {
    for object in registered.values.map({ $0.takeUnretainedValue() }) where object.isObserved {
      let added = former.entities[object.entity.index].addedProperties + object.entity.addedProperties
      for slot in Set(object.entity.transientSlots + added.map(\.slot)).sorted() {
        note(Facet(slot), of: object, because: .row, member: nil)
      }
    }
    tellListenersOfEverything()
  }

  func observe(_ object: ManagedObject, _ watch: ObserverState) {
    object.isObserved = true
    observations.observers.add(watch, of: object)
    settleObservers()
  }

  func stopObserving(_ object: ManagedObject, _ watch: ObserverState) {
    observations.observers.remove(watch, of: object)
    settleObservers()
  }

  /// Updates the flags that mark pending notifications and open observers.
  private func settleObservers() {
    observations.hasNews = observations.observers.areWaiting || !observations.listeners.news.isEmpty
    if derivations.hasOpenObservers != observations.observers.areOpen {
      derivations.hasOpenObservers = observations.observers.areOpen
    }
  }
}

extension ManagedObjectContext {
  /// Adds a listener; from now on every change is recorded.
  package func add(_ listener: any ChangeListener) {
    observations.listeners.add(listener)
    derivations.hasListeners = true
  }

  package func removeListener(_ pointer: ObjectIdentifier) {
    observations.listeners.remove(pointer)
    derivations.hasListeners = !observations.listeners.isEmpty
  }

  /// Records inserted, deleted or changed objects for the listeners.
  func tellListeners(of ids: some Sequence<ManagedObjectID>) {
    guard derivations.hasListeners else { return }
    observations.listeners.news.touched.append(contentsOf: ids)
    observations.hasNews = true
  }

  /// Records for the listeners that an object got another ID.
  func tellListeners(of old: ManagedObjectID, renamedTo new: ManagedObjectID) {
    guard derivations.hasListeners else { return }
    observations.listeners.news.rename(old, to: new)
    observations.hasNews = true
  }

  /// Records for the listeners that the context saved.
  func tellListenersOfSave() {
    guard derivations.hasListeners else { return }
    observations.listeners.news.isSaved = true
    observations.hasNews = true
  }

  /// Records for the listeners that all objects may have changed.
  func tellListenersOfEverything() {
    guard derivations.hasListeners else { return }
    observations.listeners.news.isEverything = true
    observations.hasNews = true
  }
}
