import MoonbasePlatform

/// The index of a property within its entity. Inherited properties come first, so a slot has the same meaning in
/// subentities.
public typealias Slot = Int

/// The index of an entity within its model: `model.entities[index]`.
public typealias EntityIndex = Int

/// A resolved entity, with numbered slots, inherited properties and known subentities.
///
/// Entities are numbered as in Core Data (depth first, siblings by name ignoring case), so that an entity and its
/// descendants form a range.
///
/// ```swift
/// for property in entity.properties { print(property.slot, property.name) }
/// let family = model.entities[entity.subtree]      // the entity and all that inherit from it
/// ```
public final class ResolvedEntity: Sendable {
  /// The index in the model, from 0.
  public let index: EntityIndex
  /// The entity as declared in the model, without inherited properties.
  public let description: EntityDescription
  /// The interned name.
  package let symbol: Symbol
  /// A symbol of the names of the entity and of its properties by slot. Entities of different models have the same
  /// shape if all these names agree.
  package let shape: Symbol
  /// The index of the parent entity.
  public let parent: EntityIndex?
  /// The index of the topmost ancestor, whose table holds the rows.
  public let root: EntityIndex
  /// The indexes of the entity and its descendants.
  public let subtree: Range<EntityIndex>
  /// The model's properties by slot, inherited properties first. A row has a cell for each.
  public let properties: [ResolvedProperty]
  /// Attributes computed by extensions, which the model does not declare, inherited attributes first. Their slots lie
  /// above those of rows, with gaps. Empty in the model of a coordinator.
  public let addedProperties: [ResolvedProperty]
  /// The slots of attributes.
  public let attributeSlots: [Slot]
  /// The slots of to-one relationships.
  public let toOneSlots: [Slot]
  /// The slots of to-many relationships.
  public let toManySlots: [Slot]
  /// The slots of properties that are kept in memory only.
  public let transientSlots: [Slot]
  /// Fetched properties by name, including inherited ones.
  public let fetchedProperties: [String: FetchedPropertyDescription]
  /// Uniqueness constraints as slots, including inherited ones.
  public let uniquenessConstraints: [[Int]]
  /// The initial values of a new object by slot: defaults or null.
  public let initialValues: ContiguousArray<Value>
  /// The slots whose initial value is not null.
  package let initialSlots: [Slot]

  /// The slots by name, compared by code points.
  private let slotsByName: [ExactText: Int]
  /// The slots by interned name.
  @usableFromInline package let slotsBySymbol: SymbolTable
  /// The slots of attributes that extensions add to the family.
  let addedSlots: AddedSlots
  /// The generation of the extensions whose attributes the entity has.
  private let generation: Int

  /// The name.
  public var name: String { description.name }
  /// Whether the entity has only objects of its subentities.
  public var isAbstract: Bool { description.isAbstract }
  /// Whether other entities inherit from this one.
  public var hasSubentities: Bool { subtree.count > 1 }

  /// The slot of the property with this name.
  public func slot(_ name: String) -> Int? { slotsByName[ExactText(name)] }

  /// The slot of the property with this interned name.
  @inlinable
  package func slot(_ symbol: Symbol) -> Int? { slotsBySymbol[symbol] }

  /// The property with this name.
  public func property(_ name: String) -> ResolvedProperty? { slot(name).map(property(at:)) }

  /// The property of a slot, in rows or above them. For an attribute that no extension adds any more, only the name is
  /// known.
  package func property(at slot: Slot) -> ResolvedProperty {
    slot < properties.count ? properties[slot] : addedProperty(at: slot)
  }

  /// The added attribute of a slot. The name of a removed attribute is still known from
  /// `addedSlots`.
  private func addedProperty(at slot: Slot) -> ResolvedProperty {
    if let known = addedProperties.first(where: { $0.slot == slot }) { return known }
    let former = AddedAttribute(entity: name, name: addedSlots.name(of: slot) ?? "slot \(slot)", type: nil)
    return ResolvedProperty(
      name: former.name, slot: slot, declaringEntity: index, kind: .attribute(former.description))
  }

  /// Whether a slot lies above the slots of rows.
  @inline(__always)
  package func isAdded(_ slot: Slot) -> Bool { slot >= properties.count }

  /// Whether the entity has a property in a slot. An attribute added by an extension may have been removed.
  package func has(_ slot: Slot) -> Bool { !isAdded(slot) || addedProperties.contains { $0.slot == slot } }

  /// All properties, declared and added.
  package var allProperties: [ResolvedProperty] {
    addedProperties.isEmpty ? properties : properties + addedProperties
  }

  /// Whether this entity is the other entity or inherits from it.
  public func isKind(of other: ResolvedEntity) -> Bool { other.subtree.contains(index) }

  /// The indexes of the entity and its descendants, or the entity's index alone.
  public func indexes(includingSubentities: Bool) -> Range<EntityIndex> {
    includingSubentities ? subtree : index..<index + 1
  }

  /// A message about an unknown name, with a suggestion: `Person has no property agee; did you mean age?`
  ///
  /// `orFetchedProperty` and `others` extend the names to suggest. `place` is inserted before the suggestion, and
  /// `hint` replaces it.
  package func noProperty(
    _ name: String, at place: String = "", hint: String? = nil, orFetchedProperty: Bool = false,
    or others: [String] = []
  ) -> String {
    if let former = former(name) { return "\(self.name) has no property \(name.asName)\(place)\(former)" }
    let names = allProperties.map(\.name) + (orFetchedProperty ? fetchedProperties.keys.sorted() : []) + others
    return "\(self.name) has no property \(name.asName)\(place)\(hint ?? suggestion(for: name, among: names))"
  }

  /// The end of a message about an attribute that an extension declared earlier; nil if no extension did.
  private func former(_ name: String) -> String? {
    let declaration = addedSlots.declaration(of: name, in: index)
    guard declaration.wasThere else { return nil }
    let place = declaration.location.map { " (\($0))" } ?? ""
    return ": an extension declared it\(place), and generation \(generation) of the extensions does not"
  }

  /// A message about the attribute of a slot that no longer exists.
  package func noMore(_ slot: Slot) -> String {
    let name = property(at: slot).name
    return "\(self.name) has no property \(name.asName)\(former(name) ?? "")"
  }

  /// Makes an entity from its own description and the properties by slot.
  package init(
    index: EntityIndex, description: EntityDescription, parent: ResolvedEntity?, subtree: Range<EntityIndex>,
    properties: [ResolvedProperty]
  ) {
    self.index = index
    self.description = description
    symbol = Symbol(description.name)
    self.parent = parent?.index
    root = parent?.root ?? index
    self.subtree = subtree
    self.properties = properties
    addedProperties = []
    addedSlots = parent?.addedSlots ?? AddedSlots()
    generation = 0
    slotsByName = Dictionary(uniqueKeysWithValues: properties.map { (ExactText($0.name), $0.slot) })
    attributeSlots = properties.filter { if case .attribute = $0.kind { true } else { false } }.map(\.slot)
    toOneSlots = properties.filter { if case .toOne = $0.kind { true } else { false } }.map(\.slot)
    toManySlots = properties.filter { if case .toMany = $0.kind { true } else { false } }.map(\.slot)
    transientSlots = properties.filter(\.isTransient).map(\.slot)
    let own = description.fetchedProperties.map { ($0.name, $0) }
    fetchedProperties = (parent?.fetchedProperties ?? [:]).merging(own) { _, own in own }
    let names = [description.name] + properties.map(\.name) + [""] + fetchedProperties.keys.sorted()
    shape = Symbol(names.joined(separator: "\n"))
    let slots = slotsByName
    uniquenessConstraints =
      (parent?.uniquenessConstraints ?? [])
      + description.uniquenessConstraints.map { $0.compactMap { slots[ExactText($0)] } }
    initialValues = ContiguousArray(properties.map { $0.attribute?.defaultValue ?? .null })
    initialSlots = initialValues.indices.filter { [initialValues] in !initialValues[$0].isNull }
    slotsBySymbol = SymbolTable(properties.map(\.symbol))
  }
  /// The entity with attributes that extensions add.
  init(_ base: ResolvedEntity, adding added: [ResolvedProperty], generation: Int) {
    (index, description, symbol, parent, root) = (base.index, base.description, base.symbol, base.parent, base.root)
    (subtree, properties, addedProperties) = (base.subtree, base.properties, added)
    (attributeSlots, toOneSlots, toManySlots) = (base.attributeSlots, base.toOneSlots, base.toManySlots)
    (transientSlots, fetchedProperties) = (base.transientSlots, base.fetchedProperties)
    (uniquenessConstraints, initialValues) = (base.uniquenessConstraints, base.initialValues)
    (initialSlots, addedSlots, self.generation) = (base.initialSlots, base.addedSlots, generation)
    shape = added.isEmpty ? base.shape : Symbol(([base.shape.name, ""] + added.map(\.name)).joined(separator: "\n"))
    slotsByName = base.slotsByName.merging(added.map { (ExactText($0.name), $0.slot) }) { own, _ in own }
    slotsBySymbol = SymbolTable(
      (base.properties + added).map { (symbol: $0.symbol, index: $0.slot) })
  }
}
