public import MoonbaseModel

extension ManagedObject {
  /// What the object is at the moment.
  struct State: OptionSet {
    let rawValue: UInt16
    static let inserted = State(rawValue: 1)
    static let updated = State(rawValue: 2)
    static let deleted = State(rawValue: 4)
    /// Values are not there, or were not asked for yet.
    static let fault = State(rawValue: 8)
    /// Changes are not tracked: the object wakes up from a fetch.
    static let awaking = State(rawValue: 16)
    /// In the context's list of changed objects.
    static let listed = State(rawValue: 32)
    /// Delete rules have been applied.
    static let propagated = State(rawValue: 64)
    /// Inserted by this context and not refreshed since: a to-many relationship that was not touched is empty.
    static let born = State(rawValue: 128)
    /// Hooks or delete rules of its deletion are running.
    static let departing = State(rawValue: 256)
    /// A fault whose values were read before: other objects may know it by them.
    static let refreshed = State(rawValue: 512)
    /// Another thread writes new objects that came to lists of this one, which is nothing but listed for them.
    static let listsUnderWay = State(rawValue: 1024)
    /// Somebody observes it: changes are told to `Observers`.
    static let observed = State(rawValue: 2048)
  }

  /// What the graph makes an object from. Only the graph makes one.
  ///
  /// A subclass finds this name before those of its program, which may well have a class `Place`.
  public struct ContextPlace {
    // The context that makes the object keeps the table meanwhile.
    let table: Unmanaged<ObjectTable>
    let key: Int64
    /// `.fault` for an object of a store, `.inserted` for a new one.
    let state: State
  }

  /// Why an object is in no context any more.
  enum Departure {
    case contextGone, closed, reset, deleted, rolledBack, replaced
  }

  /// The entity.
  public final var entity: ResolvedEntity { table._withUnsafeGuaranteedRef { $0.entity } }
  /// The ID; temporary until the first save.
  public final var objectID: ManagedObjectID {
    settleID()
    let key = key
    return table._withUnsafeGuaranteedRef { $0.id(key) }
  }
  @inline(__always)
  final var context: ManagedObjectContext? { table._withUnsafeGuaranteedRef { $0.context } }
  /// Whether it has a context; retains nothing.
  final var hasContext: Bool { table._withUnsafeGuaranteedRef { $0.contextReference != nil } }
  /// The context; nil once the context is gone or the object's deletion was saved.
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
  /// Whether the values have not been asked for since the object was made or refreshed.
  public final var isFault: Bool { state.contains(.fault) }
  /// Whether the next save will look at the object. More than `hasChanges`: primitive values count too.
  package final var awaitsSave: Bool { state.contains(.listed) }
  /// Whether the object is new, changed or marked for deletion.
  public final var hasChanges: Bool {
    settle()
    return !readState.isDisjoint(with: [.inserted, .updated, .deleted])
  }
}

extension ManagedObject {
  /// The state, as a getter may ask for it.
  @inline(__always)
  private final var readState: State {
    noteRead(.state)
    return state
  }
}

/// What the transitions of an object go by.
extension ManagedObject {
  /// Whether a slot counts as changed.
  @inline(__always)
  final func isMarked(_ slot: Slot) -> Bool {
    slot < 64 ? row.changedLow & (1 << UInt64(slot)) != 0 : record?.changedHigh.contains(slot) == true
  }

  /// Whether the object is all this, and a slot counts as changed.
  @inline(__always)
  final func has(_ flags: State, mark slot: Slot?) -> Bool {
    state.isSuperset(of: flags) && (slot.map(isMarked) ?? true)
  }

  /// Whether there is a row and nothing beside it, neither unsaved nor read.
  final var isAsSaved: Bool { page != nil && record == nil && state.isDisjoint(with: [.listed, .inserted, .deleted]) }

  /// Whether there is anything that is nowhere else.
  final var hasMoreThanItsRow: Bool {
    state.contains(.listed) || hasLiveValues || relationships.contains { entity.properties[$0.key].isTransient }
  }
}

extension ManagedObject: Hashable {
  /// Objects are equal when they are the same instance: within a context there is one for each ID.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  /// Hashes the identity.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
