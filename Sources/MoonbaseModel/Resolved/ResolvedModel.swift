public import MoonbasePlatform

/// A checked model with resolved names, used by contexts and stores. Immutable and shared.
///
/// ```swift
/// let model = try ManagedObjectModel { ... }.resolved()
/// model.entity("Person")?.property("age")?.slot      // the place of the value in an object
/// ```
public final class ResolvedModel: Sendable {
  /// The model as declared.
  public let description: ManagedObjectModel
  /// The entities in Core Data's numbering; `entities[i].index == i`.
  public let entities: [ResolvedEntity]
  /// The warnings of the model's checks.
  public let warnings: [String]
  /// The model without added attributes; nil if this model has none.
  package let base: ResolvedModel?

  /// Computed on first use, because most models are never written to a store.
  private let knownVersion = Lock(ModelVersion?.none)
  /// The entities' indexes by name.
  private let indexesByName: [ExactText: Int]
  /// The entities' indexes by interned name, for object IDs.
  private let indexesBySymbol: SymbolTable

  /// The entity with this name.
  public func entity(_ name: String) -> ResolvedEntity? { indexesByName[ExactText(name)].map { entities[$0] } }

  /// The entity of an object ID; nil for an ID of another model.
  public func entity(of id: ManagedObjectID) -> ResolvedEntity? { entity(id.entitySymbol) }

  /// The entity with this interned name.
  package func entity(_ symbol: Symbol) -> ResolvedEntity? { indexesBySymbol[symbol].map { entities[$0] } }

  /// The destination entity of a relationship.
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

  /// The 32-byte version hash of each entity, by name.
  public var versionHashes: [String: Data] { version.hashes }

  /// Makes a model of resolved entities.
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
  /// The entities of a configuration with their ancestors; all entities for nil.
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
