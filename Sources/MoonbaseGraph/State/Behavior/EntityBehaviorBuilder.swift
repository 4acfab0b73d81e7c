import MoonbaseModel

/// Collects the behaviour of one entity: the model and the class first, then the extensions of ancestors, then its own.
struct EntityBehaviorBuilder {
  let entity: ResolvedEntity
  let objectClass: ManagedObject.Type
  let accessors: [Slot: ManagedObject.CustomAccessor]
  /// The overridden life-cycle methods of the class; empty for a registry without hooks.
  let hooks: LifecycleHooks
  /// Whether rules are evaluated, the model's included.
  let hasRules: Bool

  private(set) var extensions: [EntityExtension] = []
  private(set) var kinds: ContiguousArray<EntityBehavior.SlotKind> = []
  private(set) var valueClasses: [Slot: ValueClass] = [:]
  private(set) var normalizers: [Slot: [(Value, ManagedObject) throws -> Value]] = [:]
  private(set) var rules: [Slot: [EntityExtension.Rule]] = [:]
  private(set) var valueRules: [Slot: [EntityExtension.ValueRule]] = [:]
  private(set) var quickRules: [Slot: [EntityExtension.QuickRule]] = [:]
  private(set) var methods: [String: EntityMethod] = [:]
  private(set) var delayedShadows: [Slot: Slot] = [:]
  private(set) var preCalculatedSlots: [Slot] = []
  private(set) var storedSlots: [Slot] = []

  /// Starts with the accessors that the class declares.
  private init(_ entity: ResolvedEntity, objectClass: ManagedObject.Type, registry: ExtensionRegistry) {
    self.entity = entity
    self.objectClass = objectClass
    hasRules = !registry.isWithoutHooks
    hooks = registry.isWithoutHooks ? [] : objectClass.overriddenLifecycleMethods
    let declared = objectClass.customAccessors.compactMap { accessor in
      entity.slot(accessor.key).map { ($0, accessor) }
    }
    accessors = Dictionary(declared) { _, later in later }
  }

  /// The behaviour of an entity's objects under the extensions of a registry.
  ///
  /// Throws `.unknownName` if an extension names a property that the entity lacks.
  static func behavior(
    of entity: ResolvedEntity, objectClass: ManagedObject.Type, model: ResolvedModel, registry: ExtensionRegistry
  ) throws -> EntityBehavior {
    var builder = EntityBehaviorBuilder(entity, objectClass: objectClass, registry: registry)
    try builder.addModel(in: registry)
    for ancestor in sequence(first: entity, next: { $0.parent.map { model.entities[$0] } }).reversed() {
      try builder.addExtensions(of: ancestor.name, from: registry)
    }
    builder.addValueClasses(from: registry)
    return EntityBehavior(builder)
  }

  // MARK: The model

  private mutating func addModel(in registry: ExtensionRegistry) throws {
    for property in entity.properties { kinds.append(try kind(of: property, in: registry)) }
    // Slots above the row belong to added attributes; the extensions that declare them are added later.
    let count = entity.addedProperties.reduce(kinds.count) { max($0, $1.slot + 1) }
    while kinds.count < count { kinds.append(.gone) }
  }

  private func kind(of property: ResolvedProperty, in registry: ExtensionRegistry) throws -> EntityBehavior.SlotKind {
    switch property.kind {
    case .toOne(let relationship): .toOne(relationship)
    case .toMany(let relationship): .toMany(relationship)
    case .attribute(let attribute): try kind(of: attribute, in: registry)
    }
  }

  private func kind(of attribute: AttributeDescription, in registry: ExtensionRegistry) throws
    -> EntityBehavior.SlotKind
  {
    guard attribute.type == .transformable, !attribute.isTransient else { return .plain }
    guard let transformer = registry.transformer(of: attribute) else { return .opaque }
    guard transformer.reverseTransformedValue != nil else {
      throw GraphError(
        .extensionFailure,
        message: "\(entity.name).\(attribute.name): transformer \(transformer.name) has no reverse to read "
          + "what it saves: give it one, or make the attribute transient",
        entity: entity.name, property: attribute.name)
    }
    return .transformable(SlotTransformer(transformer))
  }

  // MARK: Extensions

  private mutating func addExtensions(of ancestor: String, from registry: ExtensionRegistry) throws {
    for entry in registry.extensions[ancestor] ?? [] { try add(entry, from: ancestor) }
    for (name, className) in registry.attributeValueClasses[ancestor] ?? [:] {
      if let slot = entity.slot(name) { valueClasses[slot] = registry.valueClasses[className] }
    }
  }

  private mutating func add(_ entry: EntityExtension, from ancestor: String) throws {
    extensions.append(entry)
    for (name, normalizer) in entry.normalize {
      normalizers[try slot(name, from: ancestor), default: []].append(normalizer)
    }
    for (name, rule) in entry.validate {
      let slot = try slot(name, from: ancestor)
      rules[slot, default: []].append(rule)
      if let quick = entry.quickRules[name] { quickRules[slot, default: []].append(quick) }
      if let ofValue = entry.valueRules[name] { valueRules[slot, default: []].append(ofValue) }
    }
    for (name, method) in entry.methods {
      methods[name] = EntityMethod(call: method, origin: entry.methodOrigins[name])
    }
    for derived in entry.derived { try addDerived(derived, from: ancestor) }
    for derived in entry.stored { try addStored(derived, from: ancestor) }
  }

  /// The stored attributes in order of computation: each after the attributes of the same object that are its inputs.
  var storedSlotsInOrder: [Slot] {
    var result: [Slot] = []
    var seen: Set<Slot> = []
    func visit(_ slot: Slot) {
      guard seen.insert(slot).inserted else { return }
      let inputs: [String]? =
        switch kinds[slot] {
        case .stored(let derived), .storedTransformable(let derived, _), .derived(let derived): derived.inputs
        default: nil
        }
      for input in inputs ?? [] {
        if let other = entity.property(input)?.slot { visit(other) }
      }
      if storedSlots.contains(slot) { result.append(slot) }
    }
    storedSlots.forEach(visit)
    return result
  }

  private mutating func addDerived(_ derived: DerivedAttribute, from ancestor: String) throws {
    let slot = try slot(derived.name, from: ancestor)
    forget(slot)
    storedSlots.removeAll { $0 == slot }
    kinds[slot] = .derived(DerivedSlot(derived))
    if let valueClass = derived.valueClass { valueClasses[slot] = valueClass }
    if derived.readPolicy == .preCalculated { preCalculatedSlots.append(slot) }
    try addShadows(of: derived, slot: slot, from: ancestor)
  }

  private mutating func addStored(_ derived: DerivedAttribute, from ancestor: String) throws {
    let slot = try slot(derived.name, from: ancestor)
    forget(slot)
    // Keeps its position, because other attributes may be computed from it.
    if !storedSlots.contains(slot) { storedSlots.append(slot) }
    switch kinds[slot] {
    case .plain, .stored, .derived: kinds[slot] = .stored(DerivedSlot(derived))
    case .transformable(let transformer), .storedTransformable(_, let transformer):
      kinds[slot] = .storedTransformable(DerivedSlot(derived), transformer)
    case .opaque:
      let reason = entity.properties[slot].attribute?.lackOfTransformer ?? ""
      throw GraphError(
        .extensionFailure, message: "\(entity.name).\(derived.name) is stored, and \(reason)", entity: entity.name,
        property: derived.name)
    case .toOne, .toMany, .gone: break
    }
    try addShadows(of: derived, slot: slot, from: ancestor)
  }

  /// Removes the declarations that a parent made for the slot.
  private mutating func forget(_ slot: Slot) {
    preCalculatedSlots.removeAll { $0 == slot }
    delayedShadows = delayedShadows.filter { $0.value != slot }
  }

  private mutating func addShadows(of derived: DerivedAttribute, slot: Slot, from ancestor: String) throws {
    guard derived.writePolicy == .delayed else { return }
    let shadows = derived.shadow.map { [$0] } ?? derived.ownInputs ?? []
    for shadow in shadows { delayedShadows[try self.slot(shadow, from: ancestor)] = slot }
  }

  private func slot(_ name: String, from ancestor: String) throws -> Slot {
    guard let slot = entity.slot(name) else {
      throw GraphError(
        .unknownName, message: "the extension of \(ancestor) names \(name), which is no property of \(entity.name)",
        entity: ancestor, property: name)
    }
    return slot
  }

  // MARK: Value classes

  /// A class that the model or the transformer names has precedence over the registry's entry.
  private mutating func addValueClasses(from registry: ExtensionRegistry) {
    for property in entity.properties {
      guard let attribute = property.attribute else { continue }
      let ofTransformer = attribute.valueTransformerName.flatMap { registry.transformers[$0]?.valueClassName }
      if let name = attribute.valueClassName ?? ofTransformer, let valueClass = registry.valueClass(name, of: attribute)
      {
        valueClasses[property.slot] = valueClass
      }
    }
  }
}
