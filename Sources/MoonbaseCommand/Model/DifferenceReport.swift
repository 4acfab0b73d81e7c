import MoonbaseModel
import MoonbaseModelFormats

/// The differences between two models, for programs to read: `moonbase model diff --json`.
struct DifferenceReport: Encodable {
  struct Aspect: Encodable {
    let aspect: String
    let old: String?
    let new: String?

    init(_ aspect: AspectDifference) {
      self.aspect = aspect.aspect
      old = aspect.old
      new = aspect.new
    }
  }

  struct Element: Encodable {
    let kind: String
    let name: String
    let oldName: String?
    let movedBetween: String?
    let needsMigration: Bool
    let aspects: [Aspect]
    let properties: [Element]?

    init(_ entity: EntityDifference) {
      kind = entity.kind.rawValue
      name = entity.name
      oldName = entity.oldName
      movedBetween = nil
      needsMigration = entity.needsMigration
      aspects = entity.aspects.map(Aspect.init)
      properties = entity.properties.map(Element.init)
    }

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

  struct Mapping: Encodable {
    let name: String
    let kind: String
    let source: String?
    let destination: String?
  }

  let equal: Bool
  let needsMigration: Bool
  let entities: [Element]
  let others: [Aspect]
  /// The part of the mapping that can be inferred.
  let mapping: [Mapping]
  /// The reasons why the rest cannot be inferred.
  let notInferred: [String]
  /// The conditions that the mapping sets for the rows of a store.
  let conditions: [String]

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
