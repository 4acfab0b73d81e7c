import MoonbaseModel

/// What is undone and redone together.
final class UndoGroup {
  /// What happened, in its order: one part, and another one for each save in between.
  private(set) var parts: [UndoPart] = []
  /// Whether anything in it is more than a consequence.
  private(set) var isStep = false
  var name = ""

  init() {}

  /// A group that is done.
  init(_ part: UndoPart, name: String) {
    (parts, isStep, self.name) = ([part], true, name)
  }

  var isEmpty: Bool { parts.isEmpty }
  /// How many IDs had become others (`LaterIDs`) when it began; nil while there is nothing in it.
  var idCount: Int? { parts.first?.idCount }
  var weight: Int { parts.reduce(0) { $0 &+ $1.weight } }

  func append(_ part: UndoPart, isStep: Bool) {
    if !part.isEmpty { parts.append(part) }
    if isStep { self.isStep = true }
  }
}

/// What objects were before changes that followed each other.
///
/// The journal knows how each change is put back into what it was made in. That ends with a save, a refresh, or a change that was not
/// registered. This says instead what the values were, and is put back by the ways of any change.
struct UndoPart {
  /// Objects that came and went, in the order in which they did.
  let passages: [UndoPassage]
  let steps: [UndoStep]
  /// The undo manager's number of the time in which it happened.
  let epoch: Int
  /// How many IDs had become others then: it knows objects by those that they had.
  let idCount: Int

  var isEmpty: Bool { passages.isEmpty && steps.isEmpty }

  /// The bytes that it keeps, by estimate.
  var weight: Int {
    steps.reduce(0) { $0 &+ $1.weight } &+ passages.reduce(0) { $0 &+ 96 &+ ($1.stash?.weight ?? 0) }
  }
}

/// That an object came or went.
final class UndoPassage {
  let object: ManagedObject
  /// Whether it was there before, and not marked for deletion.
  let wasThere: Bool
  /// What it had when it left the context.
  var stash: UndoStash?

  init(_ object: ManagedObject, wasThere: Bool) {
    (self.object, self.wasThere) = (object, wasThere)
    if wasThere, object.context == nil { stash = UndoStash(object, wasSaved: false) }
  }
}

/// All that an object had when it left its context: it comes back with this.
struct UndoStash {
  let values: [(slot: Slot, value: Value)]
  let delayed: SlotMap<Value>
  let lists: [(slot: Slot, ids: [ManagedObjectID])]
  /// Whether a store had it: its key is not taken again.
  let wasSaved: Bool
  /// What led to it without knowing from the other side, and was cut off when its deletion was saved.
  var leads: [UndoStep] = []

  /// A value that the store keeps apart and that cannot be read now is read when the object comes back, or that fails.
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

  /// Throws where there is a value that could not be read. What is damaged may go: only to bring it back fails.
  func requireBytes(of object: ManagedObject) throws {
    for (slot, value) in values where !value.isDamage { _ = try object.loaded(value, slot: slot) }
  }

  var weight: Int {
    values.reduce(0) { $0 &+ 40 &+ $1.value.weight } &+ lists.reduce(0) { $0 &+ ToManyState.weight(of: $1.ids.count) }
      &+ leads.reduce(0) { $0 &+ $1.weight }
  }
}

/// What one property of an object was.
struct UndoStep {
  enum Former {
    case value(Value, transformed: Value?, silently: Bool)
    /// The value that waited for will-save.
    case delayed(Value?)
    /// Whether a destination was one, and where it stood; whether any had been moved.
    case member(ManagedObjectID, isMember: Bool, index: Int?, isReordered: Bool)
    /// All destinations in their order.
    case order([ManagedObjectID], isReordered: Bool)
    /// A transient attribute did not count as changed.
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
