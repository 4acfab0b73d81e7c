public import MoonbaseGraph
public import MoonbaseModel
public import MoonbaseModelFormats
import MoonbasePlatform

/// One run of a mapping model, as policies see it: `NSMigrationManager`.
///
/// It has the old objects in one context, which is only read, and the new ones in another. What becomes of which object it remembers by keys, not
/// by objects, so that both contexts hold no more than a batch.
public final class MigrationManager {
  /// The model of the old objects.
  public let sourceModel: ResolvedModel
  /// The model of the new objects.
  public let destinationModel: ResolvedModel
  /// What is run.
  public let mappingModel: MappingModel
  /// The old objects, as the store has them. It takes no changes.
  public let sourceContext: ManagedObjectContext
  /// The new objects. It is saved now and then, and every object checked at the end; policies do not save it.
  public let destinationContext: ManagedObjectContext
  /// The mapping that is being run; nil between two of them.
  public internal(set) var currentEntityMapping: EntityMapping?

  let plan: CompiledMapping
  let store: StoreNumber
  /// Whether new objects may lack values that are required.
  var allowsMissingValues = false
  private let associations: InstanceAssociations
  /// Objects that have no key yet.
  private var waiting: [(source: ManagedObjectID, destination: ManagedObject, mapping: Int)] = []

  init(_ plan: CompiledMapping, source: ManagedObjectContext, destination: ManagedObjectContext, store: StoreNumber)
    throws
  {
    self.plan = plan
    (sourceModel, destinationModel, mappingModel) = (plan.source, plan.destination, plan.model)
    (sourceContext, destinationContext, self.store) = (source, destination, store)
    associations = try InstanceAssociations(from: plan.source, to: plan.destination, store: store)
    destination.validatesAtSave = false
  }

  // MARK: Making objects

  /// Makes the object that a source object becomes, with the attributes that the mapping gives it. It has the key of the source object, where no other
  /// mapping may need that.
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

  /// Gives an object that the mapping made the destinations that the mapping says.
  public func connect(_ destination: ManagedObject, in mapping: EntityMapping) throws {
    let entry = try entry(mapping)
    guard !entry.relationships.isEmpty,
      let source = try sourceInstances(forEntityMappingNamed: mapping.name, destinationInstances: [destination]).first
    else { return }
    for relationship in entry.relationships { try relationship.set(on: destination, from: source, manager: self) }
  }

  /// Attributes that have no value because their types cannot keep the old ones, and no policy gave them others.
  package func missingAttributes(
    of destination: ManagedObject, from source: ManagedObject, in mapping: EntityMapping
  ) throws -> [ResolvedProperty] {
    try entry(mapping).attributes.filter { try $0.isMissing(on: destination, from: source) }.map(\.property)
  }

  // MARK: Associations

  /// Notes that an object came from another one, so that relationships find it.
  public func associate(
    sourceInstance source: ManagedObject, withDestinationInstance destination: ManagedObject, for mapping: EntityMapping
  ) throws {
    let index = try entry(mapping).index
    guard !destination.objectID.isTemporaryID else {
      return waiting.append((source.objectID, destination, index))
    }
    try associations.add(source.objectID, became: destination.objectID, by: index)
  }

  /// What source objects became by a mapping, in their order.
  public func destinationInstances(
    forEntityMappingNamed name: String, sourceInstances: [ManagedObject]
  ) throws -> [ManagedObject] {
    let index = try entry(named: name).index
    try settle()
    return try sourceInstances.flatMap { try destinationIDs(of: $0.objectID, by: index) }.map {
      try destinationContext.object(with: $0)
    }
  }

  /// What an object became, by one mapping or by all in their order.
  package func destinationInstances(
    of source: ManagedObject, forEntityMappingNamed name: String?
  ) throws -> [ManagedObject] {
    let index = try name.map { try entry(named: $0).index }
    try settle()
    return try associations.destinations(of: source.objectID, by: index).map {
      try destinationContext.object(with: $0.id)
    }
  }

  /// What objects came from by a mapping, in their order.
  public func sourceInstances(
    forEntityMappingNamed name: String, destinationInstances: [ManagedObject]
  ) throws -> [ManagedObject] {
    let index = try entry(named: name).index
    try settle()
    return try destinationInstances.flatMap { try associations.sources(of: $0.objectID, by: index) }.map {
      try sourceContext.object(with: $0)
    }
  }

  /// The old objects that objects came from by a mapping.
  func sourceIDs(of ids: [ManagedObjectID], by mapping: Int) throws -> [ManagedObjectID] {
    try ids.flatMap { try associations.sources(of: $0, by: mapping) }
  }

  func destinationIDs(of id: ManagedObjectID, by mapping: Int) throws -> [ManagedObjectID] {
    try associations.destinations(of: id, by: mapping).map(\.id)
  }

  /// What an object became by the first mapping that made objects of an entity of it.
  func counterparts(of id: ManagedObjectID, as entity: ResolvedEntity) throws -> [ManagedObjectID] {
    let fitting = try associations.destinations(of: id).filter {
      destinationModel.entity(of: $0.id)?.isKind(of: entity) == true
    }
    return fitting.filter { $0.mapping == fitting.first?.mapping }.map(\.id)
  }

  /// Some objects that a mapping made, behind one of them.
  func madeObjects(by mapping: Int, after last: ManagedObjectID?, upTo count: Int) throws -> [ManagedObjectID] {
    try associations.destinations(by: mapping, after: last, upTo: count)
  }

  /// Objects without a key get one.
  func settle() throws {
    guard !waiting.isEmpty else { return }
    try destinationContext.obtainPermanentIDs(for: waiting.map(\.destination))
    for (source, destination, mapping) in waiting {
      try associations.add(source, became: destination.objectID, by: mapping)
    }
    waiting = []
  }

  // MARK: Mappings

  private func entry(_ mapping: EntityMapping) throws -> CompiledMapping.Entry { try entry(named: mapping.name) }

  private func entry(named name: String) throws -> CompiledMapping.Entry {
    if let entry = plan.entries.first(where: { $0.mapping.name == name }) { return entry }
    throw GraphError(
      .unknownName,
      message: "the mapping model has no entity mapping \(name)"
        + suggestion(for: name, among: plan.entries.map(\.mapping.name)))
  }
}
