import MoonbaseModel

/// What the objects of one entity do in one context: the hooks of the entity and its ancestors by slot, parent first.
///
/// `EntityBehaviorBuilder` collects it, once for each entity and state of the extensions; then it never changes.
final class EntityBehavior {
  /// How a slot is read and written.
  enum SlotKind {
    case plain
    case transformable(SlotTransformer)
    indirect case storedTransformable(DerivedSlot, SlotTransformer)  // both: the bytes are in the row
    case opaque  // transformable without its transformer: bytes are kept as they are
    case derived(DerivedSlot)
    case stored(DerivedSlot)  // derived, and the value is in the row: the save computes it
    case toOne(ResolvedRelationship)
    case toMany(ResolvedRelationship)
    case gone  // no extension declares it any more

    /// The stored derived attribute.
    var stored: DerivedSlot? {
      switch self {
      case .stored(let derived), .storedTransformable(let derived, _): derived
      default: nil
      }
    }
  }

  let entity: ResolvedEntity
  let objectClass: ManagedObject.Type
  /// The life-cycle methods that the class overrides.
  let hooks: LifecycleHooks
  /// Accessors that a subclass declares, by slot.
  let accessors: [Slot: ManagedObject.CustomAccessor]

  // What extensions give.
  let extensions: [EntityExtension]
  private let kinds: ContiguousArray<SlotKind>
  let valueClasses: [Slot: ValueClass]
  let normalizers: [Slot: [(Value, ManagedObject) throws -> Value]]
  let rules: [Slot: [EntityExtension.Rule]]
  /// Of these, those that need no object.
  let valueRules: [Slot: [EntityExtension.ValueRule]]
  /// By slot: the rule in its quick form, where nothing else is asked of the value.
  private let onlyRules: ContiguousArray<EntityExtension.QuickRule?>
  /// The checks of validation, where each has a quick form; else nil.
  let quickChecks: QuickChecks?
  /// Methods of the objects by name: of several the one that is declared nearest to the entity.
  let methods: [String: EntityMethod]
  /// Slot of a shadow attribute → slot of the derived attribute whose delayed value will overwrite it.
  let delayedShadows: [Slot: Slot]

  // Derived attributes.
  /// Those that awake-from-fetch computes.
  let preCalculatedSlots: [Slot]
  /// Those that must have a value, or have rules.
  let derivedSlotsToValidate: [Slot]
  /// Those that will-save computes, and that are stored, in the order in which extensions declare them.
  let storedSlots: [Slot]
  /// The derived attributes in these slots.
  let storedAttributes: ContiguousArray<(slot: Slot, derived: DerivedSlot)>
  /// Those that say of themselves that they change with the object's own values only.
  let selfContainedSlots: SlotSet

  // Slots by what has to be done with them.
  /// Slots that nothing special happens to: neither accessor nor class nor derivation, nor bytes that are not read yet.
  let simpleSlots: SlotSet
  /// Slots of derived attributes that no accessor stands before.
  let derivedSlots: SlotSet
  /// Attributes and to-one relationships that validation must look at.
  let slotsToValidate: [Slot]
  /// Of these, those that must have a value and are asked nothing else: no value is made of what is stored.
  let requiredSlots: SlotSet
  /// To-many relationships whose number of destinations matters.
  let slotsToCount: [Slot]
  /// To-many relationships whose rules are asked where they have changed.
  let ruledToManySlots: [Slot]
  /// Relationships that refuse the deletion of their object.
  let denyingSlots: [Slot]

  // Hooks that are there at all, so that a save of a million objects does not look for hooks that are not there.
  let hasWillSave: Bool
  let hasDidSave: Bool
  let hasAwakeFromFetch: Bool
  let hasAwakeFromInsert: Bool
  let hasObjectRules: Bool
  let hasFaultHooks: Bool
  let hasSnapshotHooks: Bool

  /// Whether anything but the store looks at an object that is saved.
  var looksAtSaves: Bool {
    hasWillSave || hasObjectRules || !slotsToValidate.isEmpty || !derivedSlotsToValidate.isEmpty
      || !ruledToManySlots.isEmpty || !slotsToCount.isEmpty
  }

  /// Takes what a builder has collected.
  init(_ builder: EntityBehaviorBuilder) {
    entity = builder.entity
    objectClass = builder.objectClass
    hooks = builder.hooks
    accessors = builder.accessors
    extensions = builder.extensions
    let simpleSlots = builder.simpleSlots
    kinds = ContiguousArray(builder.kinds.map { $0.resolved(builder.entity, simpleSlots: simpleSlots) })
    valueClasses = builder.valueClasses
    normalizers = builder.normalizers
    rules = builder.rules
    valueRules = builder.valueRules
    onlyRules = builder.onlyRules
    quickChecks = builder.quickChecks
    methods = builder.methods
    delayedShadows = builder.delayedShadows
    preCalculatedSlots = builder.preCalculatedSlots
    derivedSlotsToValidate = builder.derivedSlotsToValidate
    storedSlots = builder.storedSlotsInOrder
    storedAttributes = ContiguousArray(storedSlots.compactMap { [kinds] slot in kinds[slot].stored.map { (slot, $0) } })
    selfContainedSlots = builder.selfContainedSlots
    self.simpleSlots = simpleSlots
    derivedSlots = builder.derivedSlots
    slotsToValidate = builder.slotsToValidate
    requiredSlots = builder.requiredSlots
    slotsToCount = builder.slotsToCount
    ruledToManySlots = builder.ruledToManySlots
    denyingSlots = builder.denyingSlots
    hasWillSave = builder.has(.willSave, \.willSave)
    hasDidSave = builder.has(.didSave, \.didSave)
    hasAwakeFromFetch = builder.has(.awakeFromFetch, \.awakeFromFetch) || !builder.preCalculatedSlots.isEmpty
    hasAwakeFromInsert = builder.has(.awakeFromInsert, \.awakeFromInsert)
    hasSnapshotHooks = builder.has(.awakeFromSnapshotEvents, \.awakeFromSnapshotEvents)
    hasFaultHooks =
      builder.has(.willTurnIntoFault, \.willTurnIntoFault) || builder.has(.didTurnIntoFault, \.didTurnIntoFault)
    hasObjectRules =
      builder.has(.validateForInsert, \.validateForInsert) || builder.has(.validateForUpdate, \.validateForUpdate)
      || builder.has(.validateForDelete, \.validateForDelete)
  }

  /// How a slot is read and written.
  @inline(__always)
  func kind(_ slot: Slot) -> SlotKind { slot < kinds.count ? kinds[slot] : .gone }

  /// The rule of a slot in its quick form, where nothing else is asked of the value.
  @inline(__always)
  func onlyRule(_ slot: Slot) -> EntityExtension.QuickRule? {
    slot < onlyRules.count ? onlyRules[slot] : nil
  }

  /// The derived attribute in a slot, stored or not.
  func derived(_ slot: Slot) -> DerivedSlot? {
    switch kind(slot) {
    case .derived(let derived), .stored(let derived), .storedTransformable(let derived, _): derived
    default: nil
    }
  }

  /// The stored derived attribute in a slot.
  func stored(_ slot: Slot) -> DerivedSlot? { kind(slot).stored }

  /// Whether any value is normalized.
  var normalizes: Bool { !normalizers.isEmpty || hooks.contains(.validateValue) }

  /// The transformer of a slot whose row has bytes.
  func transformer(_ slot: Slot) -> SlotTransformer? {
    switch kind(slot) {
    case .transformable(let transformer), .storedTransformable(_, let transformer): transformer
    default: nil
    }
  }

  /// Whether what a predicate sees of a property is what is stored.
  func isStoredAsIs(_ slot: Slot) -> Bool {
    switch kind(slot) {
    case .toOne: return accessors[slot] == nil
    case .stored(let derived): return accessors[slot] == nil && derived.writePolicy == .immediate
    default: return simpleSlots.contains(slot)
    }
  }

  /// Whether a value is computed from the object's own ones, so that only a change of the object changes it.
  func isOfOwnValues(_ slot: Slot) -> Bool {
    selfContainedSlots.contains(slot) && accessors[slot] == nil && valueClasses[slot] == nil
  }
}
