import MoonbaseModel

/// What the objects of one entity do in one context: the hooks of the entity and its ancestors by slot, parent first.
final class EntityBehavior {
  /// How a slot is read and written.
  enum SlotKind {
    case plain
    case transformable(ValueTransformer)
    case opaque  // transformable without its transformer: bytes are kept as they are
    case derived(DerivedAttribute)
    case stored(DerivedAttribute)  // derived, and the value is in the row: the save computes it
    case toOne(ResolvedRelationship)
    case toMany(ResolvedRelationship)
  }

  let entity: ResolvedEntity
  // Filled while it is made and never changed after, so that nothing is to be checked for exclusive access.
  @exclusivity(unchecked) private(set) var kinds: ContiguousArray<SlotKind> = []
  @exclusivity(unchecked) private(set) var valueClasses: [Int: ValueClass] = [:]
  @exclusivity(unchecked) private(set) var normalizers: [Int: [(Value, ManagedObject) throws -> Value]] = [:]
  @exclusivity(unchecked) private(set) var rules: [Int: [EntityExtension.Rule]] = [:]
  @exclusivity(unchecked) private(set) var extensions: [EntityExtension] = []
  /// Derived attributes to compute at awake-from-fetch.
  @exclusivity(unchecked) private(set) var preCalculatedSlots: [Slot] = []
  /// Derived attributes that must have a value.
  @exclusivity(unchecked) private(set) var requiredDerivedSlots: [Slot] = []
  /// Derived attributes that are computed and stored at will-save.
  @exclusivity(unchecked) private(set) var storedSlots = SlotSet()
  /// Derived attributes that change with the object's own values only.
  @exclusivity(unchecked) private(set) var selfContainedSlots = SlotSet()
  /// Slot of a shadow attribute → slot of the derived attribute whose delayed value will overwrite it.
  @exclusivity(unchecked) private(set) var delayedShadows: [Int: Int] = [:]
  let objectClass: ManagedObject.Type
  /// Accessors that a subclass declares, by slot.
  let accessors: [Int: ManagedObject.CustomAccessor]

  /// Slots that nothing special happens to: neither accessor nor class nor derivation, nor bytes that are not read yet.
  @exclusivity(unchecked) private(set) var simpleSlots = SlotSet()
  /// Attributes and to-one relationships that validation must look at.
  @exclusivity(unchecked) private(set) var slotsToValidate: [Int] = []
  /// To-many relationships whose number of destinations matters.
  private(set) var slotsToCount: [Int] = []
  /// Relationships that refuse the deletion of their object.
  private(set) var denyingSlots: [Slot] = []

  /// Hooks that are there at all, so that a save of a million objects does not look for hooks that are not there.
  @exclusivity(unchecked) private(set) var hasWillSave = false
  @exclusivity(unchecked) private(set) var hasDidSave = false
  @exclusivity(unchecked) private(set) var hasAwakeFromFetch = false
  @exclusivity(unchecked) private(set) var hasAwakeFromInsert = false
  @exclusivity(unchecked) private(set) var hasObjectRules = false

  /// Whether anything but the store looks at an object that is saved.
  var looksAtSaves: Bool { hasWillSave || hasObjectRules || !slotsToValidate.isEmpty || !requiredDerivedSlots.isEmpty }

  init(entity: ResolvedEntity, model: ResolvedModel, domain: ExtensionDomain, objectClass: ManagedObject.Type) throws {
    self.entity = entity
    self.objectClass = objectClass
    let declared = objectClass.customAccessors.compactMap { accessor in
      entity.slot(accessor.key).map { ($0, accessor) }
    }
    accessors = Dictionary(declared) { _, later in later }
    kinds = ContiguousArray(try entity.properties.map { try Self.kind(of: $0, entity: entity, in: domain) })
    let lineage = sequence(first: entity) { $0.parent.map { model.entities[$0] } }.reversed()
    for ancestor in lineage {
      for entry in domain.extensions[ancestor.name] ?? [] { try add(entry, from: ancestor.name) }
      for (name, className) in domain.attributeValueClasses[ancestor.name] ?? [:] {
        if let slot = entity.slot(name) { valueClasses[slot] = domain.valueClasses[className] }
      }
    }
    for property in entity.properties {
      guard let attribute = property.attribute else { continue }
      let transformerClass = attribute.valueTransformerName.flatMap { domain.transformers[$0]?.valueClassName }
      if let name = attribute.valueClassName ?? transformerClass, let valueClass = domain.valueClasses[name] {
        valueClasses[property.slot] = valueClass
      }
    }
    noteHooks()
    noteSelfContainedSlots()
    noteSimpleSlots()
    noteValidation()
  }

  private static func kind(of property: ResolvedProperty, entity: ResolvedEntity, in domain: ExtensionDomain) throws
    -> SlotKind
  {
    switch property.kind {
    case .toOne(let relationship): return .toOne(relationship)
    case .toMany(let relationship): return .toMany(relationship)
    case .attribute(let attribute):
      guard attribute.type == .transformable, !attribute.isTransient else { return .plain }
      guard let transformer = domain.transformers[attribute.valueTransformerName ?? defaultTransformerName] else {
        return .opaque
      }
      guard transformer.reverseTransformedValue != nil else {
        throw GraphError(
          .extensionFailure,
          message: "\(entity.name).\(attribute.name): transformer \(transformer.name) has no reverse to read "
            + "what it saves: give it one, or make the attribute transient",
          entity: entity.name, property: attribute.name)
      }
      return .transformable(transformer)
    }
  }

  private func add(_ entry: EntityExtension, from ancestor: String) throws {
    extensions.append(entry)
    for (name, normalizer) in entry.normalize {
      normalizers[try slot(name, ancestor: ancestor), default: []].append(normalizer)
    }
    for (name, rule) in entry.validate { rules[try slot(name, ancestor: ancestor), default: []].append(rule) }
    for derived in entry.stored { storedSlots.insert(try slot(derived.name, ancestor: ancestor)) }
    for derived in entry.derived {
      let slot = try slot(derived.name, ancestor: ancestor)
      kinds[slot] = .derived(derived)
      if derived.readPolicy == .preCalculated { preCalculatedSlots.append(slot) }
      try noteShadows(of: derived, slot: slot, ancestor: ancestor)
    }
    for derived in entry.stored {
      let slot = try slot(derived.name, ancestor: ancestor)
      switch kinds[slot] {
      case .plain, .stored: kinds[slot] = .stored(derived)
      default: break
      }
      try noteShadows(of: derived, slot: slot, ancestor: ancestor)
    }
  }

  private func noteShadows(of derived: DerivedAttribute, slot: Slot, ancestor: String) throws {
    guard derived.writePolicy == .delayed else { return }
    let shadows = derived.shadow.map { [$0] } ?? derived.ownInputs ?? []
    for shadow in shadows { delayedShadows[try self.slot(shadow, ancestor: ancestor)] = slot }
  }

  private func slot(_ name: String, ancestor: String) throws -> Int {
    guard let slot = entity.slot(name) else {
      throw GraphError(
        .unknownName, message: "the extension of \(ancestor) names \(name), which is no property of \(entity.name)",
        entity: ancestor, property: name)
    }
    return slot
  }

  private func noteHooks() {
    let overridden = objectClass != ManagedObject.self
    hasWillSave = overridden || extensions.contains { $0.willSave != nil }
    hasDidSave = overridden || extensions.contains { $0.didSave != nil }
    hasAwakeFromFetch = overridden || !preCalculatedSlots.isEmpty || extensions.contains { $0.awakeFromFetch != nil }
    hasAwakeFromInsert = overridden || extensions.contains { $0.awakeFromInsert != nil }
    hasObjectRules =
      overridden
      || extensions.contains {
        $0.validateForInsert != nil || $0.validateForUpdate != nil || $0.validateForDelete != nil
      }
  }

  /// An input that is derived itself must be of the same kind: takes out what has another input until nothing is left to
  /// take out.
  private func noteSelfContainedSlots() {
    var inputs: [Int: [Int?]] = [:]
    for (slot, kind) in kinds.enumerated() {
      guard case .derived(let derived) = kind, let names = derived.ownInputs else { continue }
      inputs[slot] = names.map(entity.slot)
    }
    func isOwn(_ slot: Slot?) -> Bool {
      guard let slot, accessors[slot] == nil else { return false }
      if case .derived = kinds[slot] { return inputs[slot] != nil }
      return true
    }
    while let slot = inputs.first(where: { !$0.value.allSatisfy(isOwn) })?.key { inputs[slot] = nil }
    for slot in inputs.keys { selfContainedSlots.insert(slot) }
  }

  private func noteSimpleSlots() {
    for slot in entity.attributeSlots {
      guard case .plain = kinds[slot], accessors[slot] == nil, valueClasses[slot] == nil, delayedShadows[slot] == nil,
        let attribute = entity.properties[slot].attribute, attribute.derivationExpression == nil,
        !attribute.allowsExternalBinaryDataStorage
      else { continue }
      simpleSlots.insert(slot)
    }
  }

  private func noteValidation() {
    let overridden = objectClass != ManagedObject.self
    slotsToValidate = (entity.attributeSlots + entity.toOneSlots).filter { slot in
      let property = entity.properties[slot]
      return overridden || !property.isOptional || property.attribute?.validation.isEmpty == false
        || rules[slot] != nil || normalizers[slot] != nil
    }
    requiredDerivedSlots = entity.attributeSlots.filter { slot in
      if case .derived = kinds[slot] { !entity.properties[slot].isOptional } else { false }
    }
    slotsToCount = entity.toManySlots.filter { slot in
      guard let relationship = entity.properties[slot].relationship?.description else { return false }
      return relationship.minCount > 0 || relationship.maxCount > 0 || !relationship.isOptional
    }
    denyingSlots = (entity.toOneSlots + entity.toManySlots).filter {
      entity.properties[$0].relationship?.description.deleteRule == .deny
    }
  }

  /// The derived attribute in a slot, stored or not.
  func derived(_ slot: Slot) -> DerivedAttribute? {
    switch kinds[slot] {
    case .derived(let derived), .stored(let derived): derived
    default: nil
    }
  }

  /// Whether what a predicate sees of a property is what is stored.
  func isStoredAsIs(_ slot: Slot) -> Bool {
    switch kinds[slot] {
    case .toOne: return accessors[slot] == nil
    case .stored(let derived): return accessors[slot] == nil && derived.writePolicy == .immediate
    default: return simpleSlots.contains(slot)
    }
  }

  /// The name under which a domain may register the transformer of attributes that name none.
  static let defaultTransformerName = "NSSecureUnarchiveFromData"
}
