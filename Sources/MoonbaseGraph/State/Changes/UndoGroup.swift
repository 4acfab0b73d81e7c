import MoonbaseModel

/// Changes that are undone and redone together.
final class UndoGroup {
  /// The changes in order, divided into parts by the saves in between.
  private(set) var parts: [UndoPart] = []
  /// Whether the group contains more than consequences of other changes.
  private(set) var isStep = false
  var name = ""

  init() {}

  /// Makes a finished group.
  init(_ part: UndoPart, name: String) {
    (parts, isStep, self.name) = ([part], true, name)
  }

  var isEmpty: Bool { parts.isEmpty }
  /// The number of ID changes (`RenamedIDs`) before the group; nil for an empty group.
  var idCount: Int? { parts.first?.idCount }
  var weight: Int { parts.reduce(0) { $0 &+ $1.weight } }

  /// Appends a part; `isStep` says whether it contains more than consequences.
  func append(_ part: UndoPart, isStep: Bool) {
    if !part.isEmpty { parts.append(part) }
    if isStep { self.isStep = true }
  }
}

/// Former states of objects before consecutive changes, in a form that outlives the journal.
///
/// The journal can revert a change only in the state right after it. A save, a refresh and an unregistered change end
/// such a state. A part records former values instead, which are restored by ordinary changes.
struct UndoPart {
  /// Insertions and deletions of objects, in their order.
  let passages: [UndoPresenceChange]
  let steps: [UndoStep]
  /// The undo manager's `epoch` at the time of the changes.
  let epoch: Int
  /// The number of ID changes at the time of the changes: the part refers to objects by the IDs of that time.
  let idCount: Int

  var isEmpty: Bool { passages.isEmpty && steps.isEmpty }

  /// An estimate of the bytes that the part keeps.
  var weight: Int {
    steps.reduce(0) { $0 &+ $1.weight } &+ passages.reduce(0) { $0 &+ 96 &+ ($1.stash?.weight ?? 0) }
  }
}

/// The insertion or deletion of an object.
final class UndoPresenceChange {
  let object: ManagedObject
  /// Whether the object existed before, and was not marked for deletion.
  let wasThere: Bool
  /// The object's values when it left the context.
  var stash: DeletedObjectState?

  init(_ object: ManagedObject, wasThere: Bool) {
    (self.object, self.wasThere) = (object, wasThere)
    if wasThere, object.context == nil { stash = DeletedObjectState(object, wasSaved: false) }
  }
}

/// The values of an object that left its context, for its return.
struct DeletedObjectState {
  let values: [(slot: Slot, value: Value)]
  let delayed: SlotMap<Value>
  let lists: [(slot: Slot, ids: [ManagedObjectID])]
  /// Whether a store had the object, so that its key must not be reused.
  let wasSaved: Bool
  /// References to the object without an inverse, which were removed when its deletion was saved.
  var leads: [UndoStep] = []

  /// Collects the object's values. An external value that cannot be read is read at the return instead, which may fail.
  init(_ object: ManagedObject, wasSaved: Bool) {
    var values: [(slot: Slot, value: Value)] = []
    var lists: [(slot: Slot, ids: [ManagedObjectID])] = []
    for property in object.entity.properties where !property.isDerived {
      if case .toMany = property.kind {
        guard let known = object.relationships[property.slot], !known.members.isEmpty else { continue }
        lists.append((property.slot, Array(known.members)))
      } else {
        let value = object.current(property.slot) ?? .null
        values.append((property.slot, (try? object.loaded(value, slot: property.slot)) ?? value))
      }
    }
    (self.values, self.lists, delayed, self.wasSaved) = (values, lists, object.delayed, wasSaved)
  }

  /// Throws if a value could not be read. Damaged values may be dropped; only their restoration fails.
  func requireBytes(of object: ManagedObject) throws {
    for (slot, value) in values where !value.isDamage { _ = try object.loaded(value, slot: slot) }
  }

  var weight: Int {
    values.reduce(0) { $0 &+ 40 &+ $1.value.weight } &+ lists.reduce(0) { $0 &+ ToManyState.weight(of: $1.ids.count) }
      &+ leads.reduce(0) { $0 &+ $1.weight }
  }
}

/// The former state of a property.
struct UndoStep {
  /// The former state of a property.
  enum Former {
    case value(Value, transformed: Value?, silently: Bool)
    /// The delayed value, which waited for will-save.
    case delayed(Value?)
    /// The former membership of a destination and its position, and whether members had been moved.
    case member(ManagedObjectID, isMember: Bool, index: Int?, isReordered: Bool)
    /// All destinations in their former order.
    case order([ManagedObjectID], isReordered: Bool)
    /// A transient attribute was not marked as changed.
    case unmarked
  }

  let object: ManagedObject
  let slot: Slot
  let former: Former

  var weight: Int {
    switch former {
    case .value(let value, let transformed, _): 96 &+ value.weight &+ (transformed?.weight ?? 0)
    case .delayed(let value): 96 &+ (value?.weight ?? 0)
    case .member, .unmarked: 96
    case .order(let ids, _): 96 &+ ToManyState.weight(of: ids.count)
    }
  }
}
