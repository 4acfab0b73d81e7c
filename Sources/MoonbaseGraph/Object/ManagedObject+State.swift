public import MoonbaseModel

/// The state of an object is a set of flags, changed only by `changeState` and the transitions in other files.
extension ManagedObject {
  /// The state of an object, as a set of flags.
  ///
  /// For example, a new object is `[.inserted, .listed]`, a fault `[.fault]`, a changed object `[.updated, .listed]`.
  struct State: OptionSet {
    /// The flags as bits.
    let rawValue: UInt16
    /// The object was never saved.
    static let inserted = State(rawValue: 1)
    /// The object was saved, and has unsaved changes.
    static let updated = State(rawValue: 2)
    /// The object is marked for deletion.
    static let deleted = State(rawValue: 4)
    /// The values were not read, or not accessed yet.
    static let fault = State(rawValue: 8)
    /// The object is awaking from a fetch, and changes are not tracked.
    static let awaking = State(rawValue: 16)
    /// The object is in the context's list of changes.
    static let listed = State(rawValue: 32)
    /// Delete rules have been applied.
    static let propagated = State(rawValue: 64)
    /// The object was inserted in this context and not refreshed since: an unused to-many relationship is empty.
    static let born = State(rawValue: 128)
    /// Hooks or delete rules of the object's deletion are running.
    static let departing = State(rawValue: 256)
    /// The object is a fault whose values were known before, so that other objects may depend on them.
    static let refreshed = State(rawValue: 512)
    /// Another thread is writing new objects in lists of this object, which is in the list of changes only for them.
    static let hasPendingLists = State(rawValue: 1024)
    /// The object is observed, and changes are reported to `Observers`.
    static let observed = State(rawValue: 2048)
  }

  /// The arguments for making an object, which only the graph can provide.
  ///
  /// The name differs from that of a likely class of a program, `Place`, which it would shadow within subclasses.
  public struct InitializationToken {
    // The context that makes the object retains the table.
    /// The table of the object's store and entity.
    let table: Unmanaged<ObjectTable>
    /// The key of the ID.
    let key: Int64
    /// `.fault` for a stored object, `.inserted` for a new object.
    let state: State
  }

  /// The reason why an object has left its context.
  ///
  /// Later accesses throw an error that names the reason.
  enum DetachReason {
    /// The context ended, or the object was removed by a request.
    case contextGone, closed, reset, deleted, rolledBack, replaced
  }

  /// The entity of the object.
  public final var entity: ResolvedEntity { table._withUnsafeGuaranteedRef { $0.entity } }
  /// The ID of the object; temporary until the first save, which gives another ID. A temporary ID is known only in its
  /// context.
  public final var objectID: ManagedObjectID {
    settleID()
    let key = key
    return table._withUnsafeGuaranteedRef { $0.id(key) }
  }
  /// The context; nil if the object left it.
  @inline(__always)
  final var context: ManagedObjectContext? { table._withUnsafeGuaranteedRef { $0.context } }
  /// Whether the object has a context; retains nothing.
  final var hasContext: Bool { table._withUnsafeGuaranteedRef { $0.contextReference != nil } }
  /// The context; nil once the context is gone or the object left it.
  public final var managedObjectContext: ManagedObjectContext? { context }
  /// Whether the object was never saved.
  public final var isInserted: Bool {
    settleID()
    return readState.contains(.inserted)
  }
  /// Whether the object has unsaved changes.
  public final var isUpdated: Bool {
    settle()
    return readState.contains(.updated)
  }
  /// Whether the object is marked for deletion; false again after the save.
  public final var isDeleted: Bool { readState.contains(.deleted) }
  /// Whether the values have not been accessed since the object was made or refreshed.
  public final var isFault: Bool { state.contains(.fault) }
  /// Whether the next save considers the object. Includes objects with only primitive changes, unlike `hasChanges`.
  package final var awaitsSave: Bool { state.contains(.listed) }
  /// Whether the object is new, changed or marked for deletion.
  public final var hasChanges: Bool {
    settle()
    return !readState.isDisjoint(with: [.inserted, .updated, .deleted])
  }
}

extension ManagedObject {
  /// The state; records the read if a getter is running.
  @inline(__always)
  private final var readState: State {
    noteRead(.state)
    return state
  }
}

/// Conditions of the object's transitions.
///
/// Marks of single properties.
extension ManagedObject {
  /// Whether a slot is marked as changed.
  @inline(__always)
  final func isMarked(_ slot: Slot) -> Bool {
    slot < 64 ? row.changedLow & (1 << UInt64(slot)) != 0 : record?.changedHigh.contains(slot) == true
  }

  /// Whether all flags are set, and a slot is marked as changed.
  @inline(__always)
  final func has(_ flags: State, mark slot: Slot?) -> Bool {
    state.isSuperset(of: flags) && (slot.map(isMarked) ?? true)
  }

  /// Whether the object has a row and nothing else, neither changes nor cached values. The object can then become a
  /// fault without loss.
  final var isAsSaved: Bool { page != nil && record == nil && state.isDisjoint(with: [.listed, .inserted, .deleted]) }

  /// Whether the object has any state that could not be read again.
  final var hasMoreThanItsRow: Bool {
    state.contains(.listed) || hasLiveValues || relationships.contains { entity.properties[$0.key].isTransient }
  }
}

/// Identity is equality.
extension ManagedObject: Hashable {
  /// Compares identities: a context has one instance for each ID.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  /// Hashes the object's identity.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
