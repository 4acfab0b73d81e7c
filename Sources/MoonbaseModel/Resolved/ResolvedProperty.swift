/// A property with its place in the objects of its entity.
public struct ResolvedProperty: Sendable {
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
  public let slot: Int
  /// The index of the entity that declares the property.
  public let declaringEntity: Int
  /// What the slot holds.
  public let kind: Kind

  /// The attribute, if the property is one.
  public var attribute: AttributeDescription? {
    if case .attribute(let attribute) = kind { attribute } else { nil }
  }

  /// The relationship, if the property is one.
  public var relationship: ResolvedRelationship? {
    switch kind {
    case .attribute: nil
    case .toOne(let relationship), .toMany(let relationship): relationship
    }
  }

  /// Whether the value is kept in memory only.
  public var isTransient: Bool {
    switch kind {
    case .attribute(let attribute): attribute.isTransient
    case .toOne(let relationship), .toMany(let relationship): relationship.description.isTransient
    }
  }

  /// Whether the value may be missing.
  public var isOptional: Bool {
    switch kind {
    case .attribute(let attribute): attribute.isOptional
    case .toOne(let relationship), .toMany(let relationship): relationship.description.isOptional
    }
  }
}

/// A relationship whose destination and inverse have been found.
public struct ResolvedRelationship: Sendable {
  /// The relationship as the model states it.
  public let description: RelationshipDescription
  /// The index of the destination entity.
  public let destination: Int
  /// The slot of the inverse in the destination entity, where there is an inverse.
  public let inverseSlot: Int?
  /// Whether the inverse is to-many; false without an inverse.
  public let isInverseToMany: Bool

  /// Whether both sides are to-many.
  public var isManyToMany: Bool { description.isToMany && inverseSlot != nil && isInverseToMany }
}
