/// The sequences of a context's saves.
struct SaveSequences {
  let willSave = NotificationListeners<ChangedObjectIDs>()
  let didSave = NotificationListeners<SavedObjectIDs>()
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
  public var didChangeObjectIDs: AsyncStream<ChangedObjectIDs> { isClosed ? Self.ended() : changeSequence() }

  /// The IDs of the objects to be saved, before each save, including saves that then fail. New objects have temporary
  /// IDs.
  ///
  /// While a sequence exists, the context does not save ahead.
  public var willSaveObjectIDs: AsyncStream<ChangedObjectIDs> { isClosed ? Self.ended() : sequences.willSave.stream() }

  /// The IDs of the objects that this context saved, after each save. For all contexts of the coordinator, use its
  /// `saves`.
  public var didSaveObjectIDs: AsyncStream<SavedObjectIDs> { isClosed ? Self.ended() : sequences.didSave.stream() }

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
