/// Which property of a model: the entity that declares it and its slot. An inherited property is the same one in each subentity.
package struct PropertyID: Hashable, Comparable, Sendable {
  package let entity: EntityIndex
  package let slot: Slot

  package static func < (left: PropertyID, right: PropertyID) -> Bool {
    (left.entity, left.slot) < (right.entity, right.slot)
  }
}

/// A property with its place in the objects of its entity. A class, so that handing one on copies no description.
///
/// ```swift
/// switch property.kind {
/// case .attribute(let attribute): print(attribute.type)
/// case .toOne(let relationship), .toMany(let relationship): print(model.destination(of: relationship).name)
/// }
/// ```
public final class ResolvedProperty: Sendable {
  /// What a slot holds.
  public enum Kind: Sendable {
    /// An attribute's value.
    case attribute(AttributeDescription)
    /// The ID of one destination.
    case toOne(ResolvedRelationship)
    /// A set or list of destinations; the slot itself stays empty.
    case toMany(ResolvedRelationship)
  }

  /// The name.
  public let name: String
  /// The interned name.
  package let symbol: Symbol
  /// The index of the property's value in an object. A subentity's inherited properties keep their slots.
  public let slot: Slot
  /// The index of the entity that declares the property.
  public let declaringEntity: EntityIndex
  /// What the slot holds.
  public let kind: Kind
  /// The attribute's type, if the property is one.
  public let attributeType: AttributeType?
  /// The relationship, if the property is one.
  public let relationship: ResolvedRelationship?
  /// Whether the value is kept in memory only.
  public let isTransient: Bool
  /// Whether the value may be missing, as the model states it.
  public let isOptional: Bool
  /// Whether a value or a destination must be there.
  package let isRequired: Bool
  /// Whether stores derive the values.
  package let isDerived: Bool
  /// Whether the model has rules for the values.
  package let hasValueRules: Bool

  init(name: String, slot: Slot, declaringEntity: EntityIndex, kind: Kind) {
    self.name = name
    symbol = Symbol(name)
    self.slot = slot
    self.declaringEntity = declaringEntity
    self.kind = kind
    switch kind {
    case .attribute(let attribute):
      attributeType = attribute.type
      relationship = nil
      isTransient = attribute.isTransient
      isOptional = attribute.isOptional
      isRequired = !attribute.isOptional
      isDerived = attribute.derivationExpression != nil
      hasValueRules = attribute.hasValueRules
    case .toOne(let relationship), .toMany(let relationship):
      attributeType = nil
      self.relationship = relationship
      isTransient = relationship.description.isTransient
      isOptional = relationship.description.isOptional
      isRequired = relationship.description.requiresDestination
      isDerived = false
      hasValueRules = false
    }
  }

  /// Which property of the model it is.
  package var id: PropertyID { PropertyID(entity: declaringEntity, slot: slot) }

  /// The attribute, if the property is one.
  public var attribute: AttributeDescription? {
    if case .attribute(let attribute) = kind { attribute } else { nil }
  }
}

extension ResolvedProperty {
  /// The rules of the model that a value breaks; none for a relationship.
  package func validate(_ value: Value) throws -> [ValidationFailure] {
    guard hasValueRules, let attribute else { return [] }
    return try attribute.validate(value)
  }
}

/// A relationship whose destination and inverse have been found. A class, so that handing one on copies no description.
public final class ResolvedRelationship: Sendable {
  /// The relationship as the model states it.
  public let description: RelationshipDescription
  /// The index of the destination entity.
  public let destination: EntityIndex
  /// The slot of the inverse in the destination entity, where there is an inverse.
  public let inverseSlot: Slot?
  /// Whether the inverse is to-many; false without an inverse.
  public let isInverseToMany: Bool
  /// Whether there can be several destinations.
  public let isToMany: Bool
  /// Whether a to-many relationship keeps its destinations in order.
  public let isOrdered: Bool

  init(description: RelationshipDescription, destination: EntityIndex, inverseSlot: Slot?, isInverseToMany: Bool) {
    self.description = description
    self.destination = destination
    self.inverseSlot = inverseSlot
    self.isInverseToMany = isInverseToMany
    isToMany = description.isToMany
    isOrdered = description.isOrdered
  }

  /// Whether both sides are to-many.
  public var isManyToMany: Bool { isToMany && inverseSlot != nil && isInverseToMany }
}
