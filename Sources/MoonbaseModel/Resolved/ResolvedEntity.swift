import MoonbasePlatform

/// The number of a property within its entity. Inherited properties come first, so that a slot means the same in a subentity.
public typealias Slot = Int

/// The number of an entity within its model: `model.entities[index]`.
public typealias EntityIndex = Int

/// An entity with everything looked up: slots numbered, inherited properties in place, subentities known.
///
/// Entities are numbered as Core Data numbers them (depth first, siblings by name without regard to case), so that an entity
/// and its subentities are one range.
///
/// ```swift
/// for property in entity.properties { print(property.slot, property.name) }
/// let family = model.entities[entity.subtree]      // the entity and all that inherit from it
/// ```
public final class ResolvedEntity: Sendable {
  /// The index in the model, from 0.
  public let index: EntityIndex
  /// The entity as the model states it, without inherited properties.
  public let description: EntityDescription
  /// The interned name.
  package let symbol: Symbol
  /// What the entity's objects are called and have: the same number for entities of any models whose names all agree, slot by slot.
  package let shape: Symbol
  /// The index of the parent entity.
  public let parent: EntityIndex?
  /// The index of the topmost ancestor, whose table holds the rows.
  public let root: EntityIndex
  /// The indexes of the entity and all its subentities.
  public let subtree: Range<EntityIndex>
  /// All properties, by slot; inherited ones first.
  public let properties: [ResolvedProperty]
  /// Slots of attributes.
  public let attributeSlots: [Slot]
  /// Slots of to-one relationships.
  public let toOneSlots: [Slot]
  /// Slots of to-many relationships.
  public let toManySlots: [Slot]
  /// Slots of properties that are kept in memory only.
  public let transientSlots: [Slot]
  /// Fetched properties by name, inherited ones too.
  public let fetchedProperties: [String: FetchedPropertyDescription]
  /// Uniqueness constraints as slots, inherited ones too.
  public let uniquenessConstraints: [[Int]]
  /// The values of a new object by slot: defaults, or null.
  public let initialValues: ContiguousArray<Value>
  /// The slots that are not null in a new object.
  package let initialSlots: [Slot]

  private let slotsByName: [ExactText: Int]
  private let slotsBySymbol: SymbolTable

  /// The name.
  public var name: String { description.name }
  /// Whether no object can be of this entity itself.
  public var isAbstract: Bool { description.isAbstract }
  /// Whether other entities inherit from this one.
  public var hasSubentities: Bool { subtree.count > 1 }

  /// The slot of a property by name.
  public func slot(_ name: String) -> Int? { slotsByName[ExactText(name)] }

  /// The slot of a property by interned name.
  package func slot(_ symbol: Symbol) -> Int? { slotsBySymbol[symbol] }

  /// The property of a name.
  public func property(_ name: String) -> ResolvedProperty? { slot(name).map { properties[$0] } }

  /// Whether this entity is the other one or inherits from it.
  public func isKind(of other: ResolvedEntity) -> Bool { other.subtree.contains(index) }

  /// The indexes of the entity and all its subentities, or its own alone.
  public func indexes(includingSubentities: Bool) -> Range<EntityIndex> {
    includingSubentities ? subtree : index..<index + 1
  }

  /// That the entity has no property of a name, and which name is near: `Person has no property agee; did you mean age?`
  ///
  /// Where fetched properties, or `others`, could have been named too, theirs are near as well. The place, where it is told, stands
  /// before what is near, and a hint in its stead.
  package func noProperty(
    _ name: String, at place: String = "", hint: String? = nil, orFetchedProperty: Bool = false,
    or others: [String] = []
  ) -> String {
    let names = properties.map(\.name) + (orFetchedProperty ? fetchedProperties.keys.sorted() : []) + others
    return "\(self.name) has no property \(name.asName)\(place)\(hint ?? suggestion(for: name, among: names))"
  }

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
}
