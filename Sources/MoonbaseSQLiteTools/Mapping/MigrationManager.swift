public import MoonbaseGraph
public import MoonbaseModel
public import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The run of a mapping model, as policies see it (`NSMigrationManager`).
///
/// The old objects are in one context, which is read-only, and the new objects in another. The manager associates
/// objects by keys rather than by references, so that both contexts hold only one batch.
///
/// Made by the migration and passed to every method of a policy. Confined to the thread of the migration. Its life ends
/// with the migration; policies should not keep it.
public final class MigrationManager {
  /// The model of the old objects.
  public let sourceModel: ResolvedModel
  /// The model of the new objects.
  public let destinationModel: ResolvedModel
  /// The mapping model.
  public let mappingModel: MappingModel
  /// The context of the old objects, which must not be changed.
  public let sourceContext: ManagedObjectContext
  /// The context of the new objects. The manager saves it regularly and validates all objects at the end; policies must
  /// not save it.
  public let destinationContext: ManagedObjectContext
  /// The mapping that is running; nil between mappings.
  public internal(set) var currentEntityMapping: EntityMapping?

  /// The compiled mapping model.
  let plan: CompiledMapping
  /// The number of both stores in object IDs.
  let store: StoreNumber
  /// Whether new objects may lack required values.
  var allowsMissingValues = false
  /// In a temporary database, not in memory.
  private let associations: InstanceAssociations
  /// Associations of objects that have no permanent ID yet. Resolved by `finish()`.
  private var waiting: [(source: ManagedObjectID, destination: ManagedObject, mapping: Int)] = []

  /// Validation at each save is turned off: objects are incomplete until the last phase.
  init(_ plan: CompiledMapping, source: ManagedObjectContext, destination: ManagedObjectContext, store: StoreNumber)
    throws
  {
    self.plan = plan
    (sourceModel, destinationModel, mappingModel) = (plan.source, plan.destination, plan.model)
    (sourceContext, destinationContext, self.store) = (source, destination, store)
    associations = try InstanceAssociations(from: plan.source, to: plan.destination, store: store)
    destination.hostSettings.validatesAtSave = false
  }

  // MARK: Making objects

  /// Creates the destination object of a source object, with the attributes that the mapping specifies. The object gets
  /// the source's key, unless another mapping may need that key.
  ///
  /// Throws `.invalidRequest` for a mapping without a destination entity, `.unknownName` for a mapping of another
  /// model, and errors of values that do not fit.
  @discardableResult
  public func insertDestinationInstance(
    forSource source: ManagedObject, in mapping: EntityMapping
  ) throws -> ManagedObject {
    let entry = try entry(mapping)
    guard let entity = entry.destination else {
      throw GraphError(.invalidRequest, message: "\(mapping.name) has no destination entity: there is nothing to make")
    }
    let object: ManagedObject
    if entry.keepsKeys, try associations.destinations(of: source.objectID, by: entry.index).isEmpty {
      let id = ManagedObjectID(store: store, entity: entity.symbol, key: source.objectID.key)
      object = try destinationContext.insert(entity, as: id)
    } else {
      object = try destinationContext.insert(entity)
    }
    for attribute in entry.attributes { try attribute.set(on: object, from: source, manager: self) }
    try associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
    return object
  }

  /// Sets the relationships of a destination object as the mapping specifies. Call this in the second phase, when the
  /// destinations exist.
  public func connect(_ destination: ManagedObject, in mapping: EntityMapping) throws {
    let entry = try entry(mapping)
    guard !entry.relationships.isEmpty,
      let source = try sourceInstances(forEntityMappingNamed: mapping.name, destinationInstances: [destination]).first
    else { return }
    for relationship in entry.relationships { try relationship.set(on: destination, from: source, manager: self) }
  }

  /// The attributes without a value whose old values do not fit their types, and that no policy has set. A script's
  /// migration reports them as missing values.
  package func missingAttributes(
    of destination: ManagedObject, from source: ManagedObject, in mapping: EntityMapping
  ) throws -> [ResolvedProperty] {
    try entry(mapping).attributes.filter { try $0.isMissing(on: destination, from: source) }.map(\.property)
  }

  // MARK: Associations

  /// Records that a destination object belongs to a source object, so that relationships find it.
  /// `insertDestinationInstance` calls it; call it for objects that a policy inserts itself.
  public func associate(
    sourceInstance source: ManagedObject, withDestinationInstance destination: ManagedObject, for mapping: EntityMapping
  ) throws {
    let index = try entry(mapping).index
    guard !destination.objectID.isTemporaryID else {
      return waiting.append((source.objectID, destination, index))
    }
    try associations.add(source.objectID, became: destination.objectID, by: index)
  }

  /// The destination objects of source objects by a mapping, in the order of the sources. Throws `.unknownName` for an
  /// unknown mapping.
  public func destinationInstances(
    forEntityMappingNamed name: String, sourceInstances: [ManagedObject]
  ) throws -> [ManagedObject] {
    let index = try entry(named: name).index
    try finish()
    return try sourceInstances.flatMap { try destinationIDs(of: $0.objectID, by: index) }.map {
      try destinationContext.object(with: $0)
    }
  }

  /// The destination objects of a source object, by one mapping or by all mappings in order. A nil name searches all
  /// mappings.
  package func destinationInstances(
    of source: ManagedObject, forEntityMappingNamed name: String?
  ) throws -> [ManagedObject] {
    let index = try name.map { try entry(named: $0).index }
    try finish()
    return try associations.destinations(of: source.objectID, by: index).map {
      try destinationContext.object(with: $0.id)
    }
  }

  /// The source objects of destination objects by a mapping, in the order of the destinations. Empty for objects that
  /// were inserted without a source.
  public func sourceInstances(
    forEntityMappingNamed name: String, destinationInstances: [ManagedObject]
  ) throws -> [ManagedObject] {
    let index = try entry(named: name).index
    try finish()
    return try destinationInstances.flatMap { try associations.sources(of: $0.objectID, by: index) }.map {
      try sourceContext.object(with: $0)
    }
  }

  /// The IDs of the source objects of destination objects by a mapping. In the order of `ids`.
  func sourceIDs(of ids: [ManagedObjectID], by mapping: Int) throws -> [ManagedObjectID] {
    try ids.flatMap { try associations.sources(of: $0, by: mapping) }
  }

  /// The IDs of the destination objects of a source object by one mapping.
  func destinationIDs(of id: ManagedObjectID, by mapping: Int) throws -> [ManagedObjectID] {
    try associations.destinations(of: id, by: mapping).map(\.id)
  }

  /// The destination objects of a source object by the first mapping that has objects of an entity. Core Data's
  /// automatic relationships choose by the first mapping, too.
  func counterparts(of id: ManagedObjectID, as entity: ResolvedEntity) throws -> [ManagedObjectID] {
    let fitting = try associations.destinations(of: id).filter {
      destinationModel.entity(of: $0.id)?.isKind(of: entity) == true
    }
    return fitting.filter { $0.mapping == fitting.first?.mapping }.map(\.id)
  }

  /// The destination objects of a mapping after a given one. In the order of entities and keys.
  func madeObjects(by mapping: Int, after last: ManagedObjectID?, upTo count: Int) throws -> [ManagedObjectID] {
    try associations.destinations(by: mapping, after: last, upTo: count)
  }

  /// Assigns permanent IDs to new objects and records their associations. Called before every lookup.
  func finish() throws {
    guard !waiting.isEmpty else { return }
    try destinationContext.obtainPermanentIDs(for: waiting.map(\.destination))
    for (source, destination, mapping) in waiting {
      try associations.add(source, became: destination.objectID, by: mapping)
    }
    waiting = []
  }

  // MARK: Mappings

  /// The compiled entry of a mapping.
  private func entry(_ mapping: EntityMapping) throws -> CompiledMapping.Entry { try entry(named: mapping.name) }

  /// Throws `.unknownName` with a suggestion.
  private func entry(named name: String) throws -> CompiledMapping.Entry {
    if let entry = plan.entries.first(where: { $0.mapping.name == name }) { return entry }
    throw GraphError(
      .unknownName,
      message: "the mapping model has no entity mapping \(name)"
        + suggestion(for: name, among: plan.entries.map(\.mapping.name)))
  }
}
