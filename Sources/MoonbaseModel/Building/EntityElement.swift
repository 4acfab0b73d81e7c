/// An element of an entity: a value that may stand in the braces behind `EntityDescription("Name")`.
public protocol EntityElement {
  /// Adds the element to an entity.
  func add(to entity: inout EntityDescription)
}

extension EntityElement {
  /// A copy with changes, for settings that have no function here: `.with { $0.versionHashModifier = "2" }`.
  public func with(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}

extension AttributeDescription: EntityElement {
  /// Adds the attribute.
  public func add(to entity: inout EntityDescription) { entity.attributes.append(self) }
}

extension RelationshipDescription: EntityElement {
  /// Adds the relationship.
  public func add(to entity: inout EntityDescription) { entity.relationships.append(self) }
}

extension FetchedPropertyDescription: EntityElement {
  /// Adds the fetched property.
  public func add(to entity: inout EntityDescription) { entity.fetchedProperties.append(self) }
}

extension FetchIndexDescription: EntityElement {
  /// Adds the index.
  public func add(to entity: inout EntityDescription) { entity.indexes.append(self) }
}

/// Attributes whose values must be unique together: `UniquenessConstraint("lastName", "born")`.
///
/// ```swift
/// EntityDescription("Person") {
///   AttributeDescription("email", type: .string)
///   UniquenessConstraint("email")
/// }
/// ```
public struct UniquenessConstraint: Sendable, Hashable, EntityElement {
  /// The names of the attributes.
  public var names: [String]

  /// A constraint over these attributes.
  public init(_ names: String...) { self.names = names }

  /// Adds the constraint.
  public func add(to entity: inout EntityDescription) { entity.uniquenessConstraints.append(names) }
}
