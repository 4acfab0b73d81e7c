package import MoonbaseModel

/// The combined hooks, rules and slot kinds of one entity in one context, ancestors first.
///
/// Immutable: `EntityBehaviorBuilder` makes a new instance when the extensions change.
package final class EntityBehavior {
  /// How a slot is read and written.
  package enum SlotKind {
    case plain
    case transformable(SlotTransformer)
    indirect case storedTransformable(DerivedSlot, SlotTransformer)  // `stored` and `transformable`
    case opaque  // transformable without its transformer: bytes are kept unread
    case derived(DerivedSlot)
    case stored(DerivedSlot)  // derived, computed by the save and written to the row
    case toOne(ResolvedRelationship)
    case toMany(ResolvedRelationship)
    case gone  // no extension declares the attribute any more

    /// The stored derived attribute, if the slot holds one.
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
  package let hooks: LifecycleHooks
  /// Accessors that a subclass declares, by slot.
  package let accessors: [Slot: ManagedObject.CustomAccessor]

  // From extensions.
  let extensions: [EntityExtension]
  private let kinds: ContiguousArray<SlotKind>
  /// Value classes by slot.
  let valueClasses: [Slot: ValueClass]
  /// Functions that change a value before validation, by slot.
  package let normalizers: [Slot: [(Value, ManagedObject) throws -> Value]]
  /// Rules by slot.
  package let rules: [Slot: [EntityExtension.Rule]]
  /// The rules that need only the value and no object, a part of `rules`.
  package let valueRules: [Slot: [EntityExtension.ValueRule]]
  /// By slot: the quick form of the slot's rule, where this rule is the slot's only check.
  private let onlyRules: ContiguousArray<EntityExtension.QuickRule?>
  /// All checks of validation in quick form; nil unless every check has a quick form.
  let quickChecks: QuickChecks?
  /// Methods of the objects by name; a method declared nearer to the entity overrides its ancestors' method.
  let methods: [String: EntityMethod]
  /// Slots of shadow attributes, each with the slot of the derived attribute whose delayed write overwrites it.
  let delayedShadows: [Slot: Slot]

  // Derived attributes.
  /// Slots that awake-from-fetch computes.
  let preCalculatedSlots: [Slot]
  /// Slots of derived attributes that are required or have rules.
  package let derivedSlotsToValidate: [Slot]
  /// Slots of stored derived attributes, which a save computes, in order of their dependencies.
  package let storedSlots: [Slot]
  /// The slots of `storedSlots` with their attributes.
  let storedAttributes: ContiguousArray<(slot: Slot, derived: DerivedSlot)>
  /// Slots of derived attributes whose declared inputs are all values of the same object.
  let selfContainedSlots: SlotSet

  // Slots by the work that they need.
  /// Slots of plain attributes: no accessor, value class, derivation, pending shadow write or external data.
  let simpleSlots: SlotSet
  /// Slots of derived attributes without a custom accessor.
  let derivedSlots: SlotSet
  /// Attributes and to-one relationships that validation checks.
  package let slotsToValidate: [Slot]
  /// Slots that are required and have no other check, so that no transformer has to run for validation.
  let requiredSlots: SlotSet
  /// To-many relationships with a minimum or maximum count.
  let slotsToCount: [Slot]
  /// To-many relationships with rules, which are evaluated when the relationship changed.
  let ruledToManySlots: [Slot]
  /// Relationships with the delete rule `deny`.
  let denyingSlots: [Slot]

  // Which hooks exist, so that a save of a million objects does not search for absent hooks.
  package let hasWillSave: Bool
  package let hasDidSave: Bool
  package let hasAwakeFromFetch: Bool
  let hasAwakeFromInsert: Bool
  package let hasObjectRules: Bool
  package let hasFaultHooks: Bool
  let hasSnapshotHooks: Bool

  /// Whether a save has to validate the object or call its `willSave`.
  var needsSaveHooks: Bool {
    hasWillSave || hasObjectRules || !slotsToValidate.isEmpty || !derivedSlotsToValidate.isEmpty
      || !ruledToManySlots.isEmpty || !slotsToCount.isEmpty
  }

  /// Adopts the results of a builder.
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

  /// The kind of a slot: how it is read and written.
  @inline(__always)
  package func kind(_ slot: Slot) -> SlotKind { slot < kinds.count ? kinds[slot] : .gone }

  /// The quick form of a slot's rule, if this rule is the slot's only check.
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

  /// The stored derived attribute in a slot, or nil.
  func stored(_ slot: Slot) -> DerivedSlot? { kind(slot).stored }

  /// Whether any value is normalized.
  var normalizes: Bool { !normalizers.isEmpty || hooks.contains(.validateValue) }

  /// The transformer of a slot with transformed bytes, or nil.
  func transformer(_ slot: Slot) -> SlotTransformer? {
    switch kind(slot) {
    case .transformable(let transformer), .storedTransformable(_, let transformer): transformer
    default: nil
    }
  }

  /// Whether predicates see the same value as the store keeps, so that the store may evaluate them.
  package func isStoredAsIs(_ slot: Slot) -> Bool {
    switch kind(slot) {
    case .toOne: return accessors[slot] == nil
    case .stored(let derived): return accessors[slot] == nil && derived.writePolicy == .immediate
    default: return simpleSlots.contains(slot)
    }
  }

  /// Whether a derived value depends on the object's own values only.
  package func isOfOwnValues(_ slot: Slot) -> Bool {
    selfContainedSlots.contains(slot) && accessors[slot] == nil && valueClasses[slot] == nil
  }
}
