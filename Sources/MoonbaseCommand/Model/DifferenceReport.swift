import MoonbaseModel
import MoonbaseModelFormats

/// The differences between two models, for programs to read: `moonbase model diff --json`.
///
/// The keys are the names of the properties. The text of `moonbase model diff` has the same
/// contents.
struct DifferenceReport: Encodable {
  /// A setting with different values.
  struct Aspect: Encodable {
    /// The name of the setting.
    let aspect: String
    /// The old value as a text, or nil if it was not set.
    let old: String?
    /// The new value as a text, or nil if it is no longer set.
    let new: String?

    /// Copies the texts of a difference.
    ///
    /// - Parameter aspect: The difference of one setting.
    init(_ aspect: AspectDifference) {
      self.aspect = aspect.aspect
      old = aspect.old
      new = aspect.new
    }
  }

  /// An entity or a property that differs.
  struct Element: Encodable {
    /// The kind of the difference: added, removed, renamed or changed.
    let kind: String
    /// The name in the new model, or in the old model if it was removed.
    let name: String
    /// The old name of a renamed element.
    let oldName: String?
    /// The entities between which a property was moved, or nil.
    let movedBetween: String?
    /// Whether the difference changes the version hash, so that stores must be migrated.
    let needsMigration: Bool
    let aspects: [Aspect]
    let properties: [Element]?

    /// An entity with the differences of its properties.
    init(_ entity: EntityDifference) {
      kind = entity.kind.rawValue
      name = entity.name
      oldName = entity.oldName
      movedBetween = nil
      needsMigration = entity.needsMigration
      aspects = entity.aspects.map(Aspect.init)
      properties = entity.properties.map(Element.init)
    }

    /// A property with the differences of its settings.
    init(_ property: PropertyDifference) {
      kind = property.kind.rawValue
      name = property.name
      oldName = property.oldName
      movedBetween = property.movedBetween
      needsMigration = property.needsMigration
      aspects = property.aspects.map(Aspect.init)
      properties = nil
    }
  }

  /// An inferred mapping of an entity.
  struct Mapping: Encodable {
    /// The name of the mapping.
    let name: String
    /// The kind, such as a copy or a transformation.
    let kind: String
    /// The entity of the old model, or nil.
    let source: String?
    /// The entity of the new model, or nil.
    let destination: String?
  }

  /// Whether the models are equal.
  let equal: Bool
  /// Whether a store of the old model must be migrated.
  let needsMigration: Bool
  /// The entities that differ.
  let entities: [Element]
  /// Differences outside of entities, such as configurations and templates.
  let others: [Aspect]
  /// The part of the mapping that can be inferred.
  let mapping: [Mapping]
  /// The reasons why the rest cannot be inferred.
  let notInferred: [String]
  /// The conditions that the mapping sets for the rows of a store.
  let conditions: [String]

  /// Creates the report about a comparison and the inferred mapping.
  ///
  /// - Parameters:
  ///   - difference: The differences.
  ///   - inference: The attempt to infer a mapping between the models.
  init(_ difference: ModelDifference, inference: MappingInference) {
    equal = difference.isEmpty
    needsMigration = difference.needsMigration
    entities = difference.entities.map(Element.init)
    others = difference.others.map(Aspect.init)
    mapping = inference.mapping.entityMappings.map {
      Mapping(
        name: $0.name, kind: $0.kind.rawValue, source: $0.sourceEntityName, destination: $0.destinationEntityName)
    }
    notInferred = inference.problems.map(\.message)
    conditions = inference.conditions.map(\.message)
  }
}
