public import MoonbaseModel

/// An object of a managed object context: the one instance for its ID there.
///
/// An object and its context are confined to one executor and are not `Sendable`; IDs and values travel instead. Subclasses add
/// typed accessors and override the life-cycle methods; the graph makes the instances.
open class ManagedObject {
  struct State: OptionSet {
    let rawValue: UInt16
    static let inserted = State(rawValue: 1)
    static let updated = State(rawValue: 2)
    static let deleted = State(rawValue: 4)
    /// Values are not there, or nobody has asked for them yet.
    static let fault = State(rawValue: 8)
    /// Changes are not tracked: the object wakes up from a fetch.
    static let awaking = State(rawValue: 16)
    /// In the context's list of changed objects.
    static let listed = State(rawValue: 32)
    /// Delete rules have been applied.
    static let propagated = State(rawValue: 64)
    /// Inserted by this context and not refreshed since: a to-many relationship that nobody touched is empty.
    static let born = State(rawValue: 128)
    /// Hooks or delete rules of its deletion are running.
    static let departing = State(rawValue: 256)
    /// A fault whose values somebody had before: other objects may know it by them.
    static let refreshed = State(rawValue: 512)
  }

  /// Why an object is in no context any more.
  enum Departure {
    case contextGone, reset, deleted, rolledBack, replaced
  }

  /// A value computed from others, and the moment up to which it holds.
  struct Cached {
    var value: Value
    var stamp: UInt64
  }

  /// What the graph makes an object from. Only the graph makes one.
  public struct Place {
    let entity: ResolvedEntity
    let id: ManagedObjectID
    let context: ManagedObjectContext
  }

  /// The entity.
  public final let entity: ResolvedEntity
  // No access to the fields of a graph's objects lasts while other code runs, so that checking each for exclusive
  // access at run time would find nothing.

  /// The ID; temporary until the first save.
  @exclusivity(unchecked) public final internal(set) var objectID: ManagedObjectID

  @exclusivity(unchecked) final var state: State = []
  /// The values as the store had them when they were read; nil for a fault and for a new object.
  @exclusivity(unchecked) final var snapshot: Snapshot? {
    willSet { weigh((newValue?.weight ?? 0) &- (snapshot?.weight ?? 0)) }
  }
  /// The current values, all of them; empty as long as nothing changed.
  @exclusivity(unchecked) final var live: ContiguousArray<Value> = []
  /// Slots that may differ from the snapshot, by whichever door: what a save writes.
  @exclusivity(unchecked) final var changed = SlotSet()
  /// Values that transformers and derived attributes gave.
  @exclusivity(unchecked) final var caches: SlotMap<Cached> = [:] { didSet { weighComputed() } }
  /// Values assigned to delayed derived attributes, until will-save.
  @exclusivity(unchecked) final var delayed: SlotMap<Value> = [:] { didSet { weighComputed() } }
  /// The faults that read their rows together with this one.
  final var batch: FaultBatch?
  @exclusivity(unchecked) final var relationships: SlotMap<ToManyState> = [:] { didSet { weighRelationships() } }
  /// The bytes that the context was told of: in all, of assigned values, of computed ones, of relationships.
  @exclusivity(unchecked) final var weight = 0
  @exclusivity(unchecked) final var assignedWeight = 0
  @exclusivity(unchecked) final var computedWeight = 0
  @exclusivity(unchecked) final var relationshipsWeight = 0
  /// Goes up with each change of an own value.
  @exclusivity(unchecked) final var changeCount: UInt64 = 0
  /// The place in the context's list of changed objects, where it is listed.
  final var changePosition = 0
  /// Why there is no context any more.
  final var departure = Departure.contextGone
  /// The savepoint of the context in which the object was last noted.
  @exclusivity(unchecked) final var savepoint: UInt32 = 0

  // The context clears this of every registered object when it goes away, and objects stay on their context's executor. An
  // object is registered from here on until `leave` clears this.
  @exclusivity(unchecked) private(set) final unowned(unsafe) var context: ManagedObjectContext?

  /// Makes the object for a place in a context. Subclasses do not call it; they may override it to set up fields.
  public required init(_ place: Place) {
    entity = place.entity
    objectID = place.id
    context = place.context
    place.context.register(self)
  }

  /// The object is no longer of its context.
  final func leave(because departure: Departure) {
    // Nobody can read the values any more; one that may come back keeps them.
    let isFinal = departure == .reset || departure == .rolledBack && context?.journal.isActive == false
    context?.weigh(-weight)
    context = nil
    self.departure = departure
    if isFinal {
      snapshot = nil
      live = []
    }
  }

  /// The object is of its context again.
  final func enter(_ context: ManagedObjectContext, _ state: State) {
    self.context = context
    context.weigh(weight)
    self.state = state
    context.register(self)
  }

  deinit { context?.forget(self) }

  // MARK: Life cycle

  /// After the default values of a new object are set; once in an object's life.
  open func awakeFromInsert() {}
  /// After the values were read from the store. Changes made here are not tracked.
  open func awakeFromFetch() {}
  /// Before the object is saved, again as long as it changes something.
  open func willSave() throws {}
  /// After the object was saved.
  open func didSave() {}
  /// At each call that deletes the object.
  open func prepareForDeletion() {}
  /// Before the object becomes a fault.
  open func willTurnIntoFault() {}
  /// After the object became a fault.
  open func didTurnIntoFault() {}
  /// Checks a new object as a whole. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForInsert() throws {}
  /// Checks a changed object as a whole. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForUpdate() throws {}
  /// Checks whether the object may go. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForDelete() throws {}
  /// Checks a value that is about to be saved and may replace it.
  open func validateValue(_ value: inout Value, forKey key: String) throws {}

  /// Accessors through which every access by key goes: those a subclass writes itself. Empty for plain properties.
  open class var customAccessors: [CustomAccessor] { [] }
}

extension ManagedObject {
  /// The context; nil once the context is gone or the object's deletion was saved.
  public final var managedObjectContext: ManagedObjectContext? { context }
  /// Whether the object was never saved.
  public final var isInserted: Bool { state.contains(.inserted) }
  /// Whether the object has unsaved changes.
  public final var isUpdated: Bool { state.contains(.updated) }
  /// Whether the object is marked for deletion; false again after the save.
  public final var isDeleted: Bool { state.contains(.deleted) }
  /// Whether the values have not been asked for since the object was made or refreshed.
  public final var isFault: Bool { state.contains(.fault) }
  /// Whether the next save will look at the object. More than `hasChanges`: primitive values count too.
  package final var awaitsSave: Bool { state.contains(.listed) }
  /// Whether the object is new, changed or marked for deletion.
  public final var hasChanges: Bool { !state.isDisjoint(with: [.inserted, .updated, .deleted]) }

  /// A property accessor written by a subclass; access by key, predicates and scripts go through it.
  public struct CustomAccessor {
    let key: String
    let get: (ManagedObject) throws -> Value
    let set: (ManagedObject, Value) throws -> Void

    /// Makes an accessor for objects of a subclass.
    public init<Owner: ManagedObject>(
      _ key: String, of type: Owner.Type = Owner.self, get: @escaping (Owner) throws -> Value,
      set: @escaping (Owner, Value) throws -> Void
    ) {
      self.key = key
      self.get = { object in try get(Self.cast(object, key)) }
      self.set = { object, value in try set(Self.cast(object, key), value) }
    }

    private static func cast<Owner: ManagedObject>(_ object: ManagedObject, _ key: String) throws -> Owner {
      guard let owner = object as? Owner else {
        throw GraphError(
          .invalidObject, "\(object.entity.name).\(key): its accessor is for \(Owner.self)", property: key)
      }
      return owner
    }
  }
}

extension ManagedObject: Hashable {
  /// Objects are equal when they are the same instance: within a context there is one for each ID.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  /// Hashes the identity.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
