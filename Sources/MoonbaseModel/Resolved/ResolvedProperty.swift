/// The identity of a property within its model: its declaring entity and slot. An inherited property has the same ID in
/// each subentity.
package struct PropertyID: Hashable, Comparable, Sendable {
  /// The declaring entity.
  package let entity: EntityIndex
  /// The slot.
  package let slot: Slot

  /// The order by entity and slot.
  package static func < (left: PropertyID, right: PropertyID) -> Bool {
    (left.entity, left.slot) < (right.entity, right.slot)
  }
}

/// A property with its slot. A class, so that passing it copies no description.
///
/// ```swift
/// switch property.kind {
/// case .attribute(let attribute): print(attribute.type)
/// case .toOne(let relationship), .toMany(let relationship): print(model.destination(of: relationship).name)
/// }
/// ```
public final class ResolvedProperty: Sendable {
  /// The content of a slot.
  public enum Kind: Sendable {
    /// An attribute's value.
    case attribute(AttributeDescription)
    /// The ID of the destination.
    case toOne(ResolvedRelationship)
    /// A set or list of destinations. The slot itself stays empty.
    case toMany(ResolvedRelationship)
  }

  /// The name.
  public let name: String
  /// The interned name.
  package let symbol: Symbol
  /// The index of the value in an object. Subentities inherit the slot.
  public let slot: Slot
  /// The index of the entity that declares the property.
  public let declaringEntity: EntityIndex
  /// The content of the slot.
  public let kind: Kind
  /// The attribute's type; nil for a relationship.
  public let attributeType: AttributeType?
  /// The relationship; nil for an attribute.
  public let relationship: ResolvedRelationship?
  /// Whether the value is kept in memory only and not in stores.
  public let isTransient: Bool
  /// Whether the value may be missing according to the model.
  public let isOptional: Bool
  /// Whether a value or a destination is required.
  package let isRequired: Bool
  /// Whether stores derive the value.
  package let isDerived: Bool
  /// Whether the model has rules for the values.
  package let hasValueRules: Bool

  /// A property of a slot. The settings are copied from the description, so that reading them is
  /// fast.
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

  /// The identity of the property within its model.
  package var id: PropertyID { PropertyID(entity: declaringEntity, slot: slot) }

  /// The attribute; nil for a relationship.
  public var attribute: AttributeDescription? {
    if case .attribute(let attribute) = kind { attribute } else { nil }
  }
}

extension ResolvedProperty {
  /// The model's rules that a value breaks; empty for a relationship.
  package func validate(_ value: Value) throws -> [ValidationFailure] {
    guard hasValueRules, let attribute else { return [] }
    return try attribute.validate(value)
  }
}

/// A relationship with resolved destination and inverse. A class, so that passing it copies no description.
public final class ResolvedRelationship: Sendable {
  /// The relationship as declared.
  public let description: RelationshipDescription
  /// The index of the destination entity.
  public let destination: EntityIndex
  /// The slot of the inverse in the destination entity; nil without an inverse.
  public let inverseSlot: Slot?
  /// Whether the inverse is to-many; false without an inverse.
  public let isInverseToMany: Bool
  /// Whether the relationship can have several destinations.
  public let isToMany: Bool
  /// Whether a to-many relationship keeps its destinations in order.
  public let isOrdered: Bool

  /// A relationship whose names are resolved to indexes.
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
