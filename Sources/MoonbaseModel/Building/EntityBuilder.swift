/// Collects the elements in the braces of an entity. `if`, `switch` and `for` work inside.
@resultBuilder
public enum EntityBuilder {
  /// A single element.
  public static func buildExpression(_ element: some EntityElement) -> [any EntityElement] { [element] }
  /// Several elements, for example a function's result.
  public static func buildExpression(_ elements: [any EntityElement]) -> [any EntityElement] { elements }
  /// All elements in the braces.
  public static func buildBlock(_ parts: [any EntityElement]...) -> [any EntityElement] { parts.flatMap(\.self) }
  /// The elements of an `if` without `else`.
  public static func buildOptional(_ part: [any EntityElement]?) -> [any EntityElement] { part ?? [] }
  /// The elements of the first branch.
  public static func buildEither(first part: [any EntityElement]) -> [any EntityElement] { part }
  /// The elements of the second branch.
  public static func buildEither(second part: [any EntityElement]) -> [any EntityElement] { part }
  /// The elements of all iterations of a loop.
  public static func buildArray(_ parts: [[any EntityElement]]) -> [any EntityElement] { parts.flatMap(\.self) }
}

/// Collects the entities of a model; `if`, `switch` and `for` work inside.
@resultBuilder
public enum ModelBuilder {
  /// A single entity.
  public static func buildExpression(_ entity: EntityDescription) -> [EntityDescription] { [entity] }
  /// All entities in the braces.
  public static func buildBlock(_ parts: [EntityDescription]...) -> [EntityDescription] { parts.flatMap(\.self) }
  /// The entities of an `if` without `else`.
  public static func buildOptional(_ part: [EntityDescription]?) -> [EntityDescription] { part ?? [] }
  /// The entities of the first branch.
  public static func buildEither(first part: [EntityDescription]) -> [EntityDescription] { part }
  /// The entities of the second branch.
  public static func buildEither(second part: [EntityDescription]) -> [EntityDescription] { part }
  /// The entities of all iterations of a loop.
  public static func buildArray(_ parts: [[EntityDescription]]) -> [EntityDescription] { parts.flatMap(\.self) }
}

extension ManagedObjectModel {
  /// A model with the entities in the braces:
  ///
  /// ```swift
  /// let model = ManagedObjectModel {
  ///   EntityDescription("Person", class: "Person") {
  ///     AttributeDescription("lastName", type: .string).required()
  ///     AttributeDescription("age", type: .integer16).required(default: 0).between(0, 150)
  ///     RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends").ordered()
  ///     UniquenessConstraint("lastName")
  ///   }
  ///   EntityDescription("Employee", parent: "Person") {
  ///     AttributeDescription("number", type: .integer32).required()
  ///   }
  /// }
  /// ```
  public init(@ModelBuilder _ entities: () -> [EntityDescription]) { self.init(entities: entities()) }
}

extension EntityDescription {
  /// An entity with its properties, constraints and indexes.
  public init(
    _ name: String, parent: String? = nil, class className: String? = nil, abstract: Bool = false,
    @EntityBuilder _ elements: () -> [any EntityElement]
  ) {
    self.init(name)
    superentityName = parent
    managedObjectClassName = className
    isAbstract = abstract
    for element in elements() { element.add(to: &self) }
  }

  /// A copy with changes, for settings that have no function here.
  public func with(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}
