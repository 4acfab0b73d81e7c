import DequeModule
import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

// The state of a context by concern. `ManagedObjectContext` has one property for each of these structures.

/// The work in progress: nesting depths of hooks, rules, accessors and delete rules, and the transaction. Requests
/// that would disturb the work are refused.
package struct RunningWork {
  /// The nesting depth of running hooks, rules, transformers and getters.
  var hookDepth = 0
  /// Closures to call when hooks return, with the depths of these hooks.
  var endsOfHooks: [(depth: Int, body: () -> Void)] = []
  var hasEndsOfHooks = false
  /// The nesting depth of running rules.
  var ruleDepth = 0
  /// The nesting depth of running applications of delete rules, and the number of applications.
  var propagationDepth = 0
  var propagationCount: UInt64 = 0
  /// The nesting depth of running accessors of subclasses.
  var accessorDepth = 0
  /// Whether the body of a transaction is running.
  package var isInTransaction = false
  /// Whether discarding changes is refused, because other changes are part of the same save.
  var refusesDiscarding = false
  /// The phase of the running save; nil outside of a save.
  var phase: SavePhase?
}

/// The saves of other contexts that are to be merged.
struct PendingMerges {
  /// The arrived saves; nil if the context does not merge automatically.
  var inbox: NotificationInbox<SavedObjectIDs>?
  /// The number of arrived saves that follow the save that is being merged.
  var remaining = 0
  /// Objects that were not merged automatically, because a value was changed both here and elsewhere.
  var unmergedIDs: Set<ManagedObjectID> = []
}

/// Observers of saves and merges.
package struct ContextObservations {
  /// Observers of single objects.
  let observers = Observers()
  /// Listeners to changes of all objects.
  let listeners = ChangeListeners()
  /// Observers of saves.
  var saves: [ManagedObjectContext.SaveObserver] = []
  /// Observers of merges.
  var merges: [ManagedObjectContext.MergeObserver] = []
  /// Observations that end with the context.
  var kept: [ObjectIdentifier: AnyObject] = [:]
  /// Sequences of the IDs in other contexts' saves.
  var sequences: SaveSequences?
  /// The changes since the last event; nil without observers of events.
  package var changeEvent: ChangeEvent?
  /// Whether an observer or listener has to be notified.
  var hasNews = false
}

/// Rows, lists and views that were read ahead, until something is saved, rolled back or refreshed.
struct ReadAhead {
  /// Destinations that were read ahead, until something is saved, rolled back or refreshed.
  var prefetched = PrefetchedLists()
  /// The views of walks, the newest last; some may have ended, or been released.
  var openViews: ContiguousArray<ManagedObjectContext.OpenView> = []
  /// The view of the running read.
  var pinnedView: ReadView?
  /// Rows that a prefetch left unread because they were too many.
  var deferredRows: DeferredRows?
  /// Counts the times that rows read ahead became outdated.
  var number = 0
  /// Whether destination lists were read that rows of other objects may change.
  var hasReadLists = false
}

/// The save that another thread writes, and what depends on its result.
struct ConcurrentSaving {
  /// The save that another thread is writing.
  var pendingSave: SaveAhead?
  /// The error of a save by another thread, until it is reported.
  var failure: (any Error)?
  /// The thread that writes saves for this context.
  var writer: ThreadExecutor?
  /// Saved objects with changed lists whose pending save ended within the current savepoints.
  ///
  /// If these savepoints are undone, the objects must have nothing left to save.
  var ownersToRecheck: [ManagedObject] = []
  /// Objects outside of the list of changes, with values that contain temporary IDs.
  var objectsWithTemporaryIDs: [ManagedObject] = []
}

/// Deleted objects whose consequences are pending.
struct PendingDeletions {
  /// Objects deleted since the last application of delete rules.
  var toPropagate: Deque<ManagedObject> = []
  /// New objects that were deleted and will leave the context; some may have left or returned.
  var newObjects: ContiguousArray<ManagedObject> = []
  /// Objects with references that only `UnclearedReferences` removes when their destinations are deleted.
  var unclearedReferences = UnclearedReferenceIndex()
}

/// Objects that the context retains for a check at the next save, or by request.
struct RetainedObjects {
  /// Whether all registered objects are retained.
  var retainsAll = false
  /// Objects whose transformable values were read since the last save; see `detectsInPlaceMutation`.
  var readObjects: OrderedSet<ManagedObject> = []
  /// Objects that the next save checks for conflicts, changed or not.
  var objectsToCheck: OrderedSet<ManagedObject> = []
  /// All objects, if `retainsRegisteredObjects` is true.
  var all: Set<ManagedObject> = []
}

/// Stored derived values that the next save computes.
struct StoredDerivationState {
  /// Stored derived values with changed inputs, which the next save computes.
  var outdated: [StoredPlace] = []
  /// The dependencies of stored attributes by declared inputs; made by the first save that needs them.
  var inputs: StoredInputs?
}

/// Counters by which other parts detect that their knowledge is outdated.
struct ContextCounters {
  /// Counts the changes of all objects, so that a derived value can be checked for validity.
  var changeCount: UInt64 = 0
  /// Counts the objects that were inserted, or restored, with temporary IDs.
  var arrivalCount: UInt64 = 0
  /// Counts refreshes of objects that may have moved between unknown lists. Lists that were read before are read again.
  var untrackedMoves: UInt32 = 0
  /// Counts the times that all objects were released.
  var resetCount = 0
}

/// Compiled key paths, and entities and objects that were looked up.
struct ContextCaches {
  /// The plans for lookups of objects by values, and the revision of the stores that they are valid for.
  var lookups: (revision: Int, known: [ObjectLookup]) = (0, [])
  /// The view that consecutive lookups share.
  var lookupSession: LookupSession?
  /// Compiled key paths.
  var keyPaths = KeyPaths()
  /// A cache of entities by the classes of their objects.
  var entitiesByClass: [ObjectIdentifier: ResolvedEntity] = [:]
  /// The last entity that was looked up by name.
  var entityNamedLast: ResolvedEntity?
}

/// The memory that the objects of a context hold.
package struct ContextMemory {
  /// An estimate of the bytes that the objects hold.
  package var weight = 0
  /// The estimate that was last reported to the registry.
  var reportedWeight = 0
  /// Pages with few rows in use.
  var sparsePages = SparsePages()
}

/// The executor of a context, and its end.
struct ContextLifetime {
  /// The reference that `reference` returns, once it was made.
  var reference: ContextReference?
  /// The executor for debugging of illegal uses; nil if uses are not checked.
  var confinement: Confinement?
  /// Whether the context was closed and refuses requests.
  var isClosed = false
  /// The coordinator for child contexts; nil without children.
  weak var sourceOfChildren: PersistentStoreCoordinator?
}

/// Errors and warnings that no call has thrown.
struct ContextErrors {
  /// Errors of accessors that cannot throw.
  var pending: [any Error] = []
  /// Errors of `didSave` hooks after successful saves.
  var didSave: [GraphError] = []
  /// The warnings of rules at the last save.
  var warnings = ValidationWarnings()
}

/// Hooks, rules, slot kinds and temporary keys by entity.
struct BehaviorTable {
  /// The combined hooks, rules and slot kinds; nil until they are needed.
  var behaviors: ContiguousArray<EntityBehavior?>
  /// The error of extensions that do not fit the model.
  var error: (any Error)?
  /// The temporary keys of new objects.
  var temporaryKeys: ContiguousArray<TemporaryKeyRange>

  /// A table without behaviors.
  init(entityCount: Int) {
    behaviors = ContiguousArray(repeating: nil, count: entityCount)
    temporaryKeys = ContiguousArray(repeating: TemporaryKeyRange(), count: entityCount)
  }

  /// A table with the behaviors of another context, and temporary keys of its own.
  init(like other: BehaviorTable) {
    self.init(entityCount: other.behaviors.count)
    (behaviors, error) = (other.behaviors, other.error)
  }
}

/// Settings of the code that owns a context: containers, imports and migrations.
package struct ContextHostSettings {
  /// Called on any thread when saves wait to be merged, by `mergeArrivedSaves`, if the context can run code on its
  /// executor.
  package var onNews: (@Sendable () -> Void)?
  /// Whether a save validates objects. A migration saves objects in pieces and validates them at the end.
  package var validatesAtSave = true
  /// The phrase by which errors name a new object, for example by the row of a batch insert.
  package var nameOfNewObject: ((ManagedObject) -> String?)?
  /// Whether another thread may write saves, which is slower on a single core.
  package var savesAhead = HostErrand.hasSeveralCores
}
