public import MoonbasePlatform

/// A checked model whose names are resolved: what contexts and stores work with. Immutable and shared.
///
/// ```swift
/// let model = try ManagedObjectModel { ... }.resolved()
/// model.entity("Person")?.property("age")?.slot      // the place of the value in an object
/// ```
public final class ResolvedModel: Sendable {
  /// The model as it was stated.
  public let description: ManagedObjectModel
  /// The entities in Core Data's numbering; `entities[i].index == i`.
  public let entities: [ResolvedEntity]
  /// What is worth telling about the model without being wrong.
  public let warnings: [String]
  /// The model without what extensions add; nil where this is it.
  package let base: ResolvedModel?

  /// Computed when first asked for: most models are never written to a store.
  private let knownVersion = Lock(ModelVersion?.none)
  private let indexesByName: [ExactText: Int]
  private let indexesBySymbol: SymbolTable

  /// The entity of a name.
  public func entity(_ name: String) -> ResolvedEntity? { indexesByName[ExactText(name)].map { entities[$0] } }

  /// The entity of an object ID; nil for an ID of another model.
  public func entity(of id: ManagedObjectID) -> ResolvedEntity? { entity(id.entitySymbol) }

  package func entity(_ symbol: Symbol) -> ResolvedEntity? { indexesBySymbol[symbol].map { entities[$0] } }

  /// The entity that a relationship leads to.
  public func destination(of relationship: ResolvedRelationship) -> ResolvedEntity {
    entities[relationship.destination]
  }

  /// The hashes that identify this version of the model in a store.
  public var version: ModelVersion {
    knownVersion.withLock { known in
      if let known { return known }
      let version = ModelVersion(parentsFirst: entities.lazy.map(\.description))
      known = version
      return version
    }
  }

  /// The 32-byte version hash of each entity, by its name.
  public var versionHashes: [String: Data] { version.hashes }

  package init(description: ManagedObjectModel, entities: [ResolvedEntity], warnings: [String]) {
    self.description = description
    self.entities = entities
    self.warnings = warnings
    base = nil
    indexesByName = Dictionary(uniqueKeysWithValues: entities.map { (ExactText($0.name), $0.index) })
    indexesBySymbol = SymbolTable(entities.map(\.symbol))
  }

  /// A model whose entities have attributes that extensions add.
  init(_ base: ResolvedModel, entities: [ResolvedEntity]) {
    (description, warnings, self.base, self.entities) = (base.description, base.warnings, base.base ?? base, entities)
    (indexesByName, indexesBySymbol) = (base.indexesByName, base.indexesBySymbol)
  }
}

extension ResolvedModel {
  /// The entities of a configuration with their ancestors, or all entities for nil.
  ///
  /// Throws `ModelError` with `.invalidModel` for an unknown configuration.
  public func entities(inConfiguration name: String?) throws(ModelError) -> [ResolvedEntity] {
    guard let name else { return entities }
    guard let members = description.configurations[name] else {
      throw ModelError(.invalidModel, message: "the model has no configuration \(name)")
    }
    var indexes: Set<Int> = []
    for member in members {
      var current = entity(member)
      while let entity = current, indexes.insert(entity.index).inserted {
        current = entity.parent.map { entities[$0] }
      }
    }
    return indexes.sorted().map { entities[$0] }
  }
}
