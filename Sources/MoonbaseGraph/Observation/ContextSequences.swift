/// Who reads elsewhere of a context's saves.
struct SaveSequences {
  let willSave = NewsListeners<ChangedObjectIDs>()
  let didSave = NewsListeners<SavedObjectIDs>()
}

/// What happens in a context, for tasks on any executor: IDs, which may leave the context, in asynchronous sequences.
///
/// Each call makes a sequence of its own, which begins now, and ends with its task or with the context. What nobody reads is bounded: beyond
/// 64 elements all that wait are one, each ID once, and beyond 65,536 IDs only `mayBeAnything` is said.
extension ManagedObjectContext {
  /// The objects that change, by their IDs, at the end of each event, as `observeChanges` tells of them. New objects have temporary IDs.
  ///
  /// As long as somebody has such a sequence, the context notes each change, as it does for an undo manager, and saves are not made ahead.
  ///
  /// ```swift
  /// let changes = context.didChangeObjectIDs
  /// Task { for await change in changes { await index.note(change.updated) } }
  /// ```
  public var didChangeObjectIDs: AsyncStream<ChangedObjectIDs> { isClosed ? Self.ended() : changeSequence() }

  /// What is to be saved, by IDs, before each save; new objects have temporary IDs. A save that fails is told too.
  ///
  /// As for all who observe saves, these are not made ahead.
  public var willSaveObjectIDs: AsyncStream<ChangedObjectIDs> { isClosed ? Self.ended() : sequences.willSave.stream() }

  /// What this context saved, by IDs, after each save. `saves` of the coordinator has what all of its contexts save.
  public var didSaveObjectIDs: AsyncStream<SavedObjectIDs> { isClosed ? Self.ended() : sequences.didSave.stream() }

  private var sequences: SaveSequences {
    let known = saveSequences ?? SaveSequences()
    saveSequences = known
    return known
  }

  private static func ended<Element>() -> AsyncStream<Element> { AsyncStream { $0.finish() } }

  /// Nothing more is told.
  func endSequences() {
    saveSequences = nil
    endChangeSequences()
  }
}
