import MoonbaseGraph
public import MoonbaseModel
import MoonbaseModelFormats
public import MoonbasePlatform
public import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
public import MoonbaseScripting

extension SQLiteStore {
  /// The steps that a migration by a script would take. The file is only read.
  public static func migrationPlan(
    forStoreAt url: URL, to model: ResolvedModel, with script: MigrationScript, configuration: String? = nil,
    sources: [ResolvedModel] = [], busyTimeout: Duration? = nil
  ) throws -> MigrationPlan {
    try ScriptedMigration(script, to: model).plan(
      url, configuration: configuration, sources: sources, busyTimeout: busyTimeout)
  }

  /// Migrates a store by a script: the mapping is inferred from the models as far as possible, and functions of the
  /// script complete it, object by object.
  ///
  /// A function is called after its object was made and connected as the models imply, with the old and the new object.
  /// Throws `ModelError` with `.cannotInferMapping` for an open question about an entity without a function, and with
  /// `.unknownName` for a function whose name is neither an entity nor a pair of entities. Also throws the errors of
  /// the script, with the row, and the errors of `migrate(storeAt:to:with:)`.
  @discardableResult
  public static func migrate(
    storeAt url: URL, to model: ResolvedModel, with script: MigrationScript, configuration: String? = nil,
    sources: [ResolvedModel] = [], allowsLoss: Bool = false, busyTimeout: Duration? = nil, progress: Progress? = nil
  ) throws -> MigrationPlan {
    try ScriptedMigration(script, to: model).run(
      url, configuration: configuration, sources: sources, allowsLoss: allowsLoss, busyTimeout: busyTimeout,
      progress: progress)
  }
}

/// The functions of a script as policies of a mapping model.
private struct ScriptedMigration {
  let script: MigrationScript
  let model: ResolvedModel

  init(_ script: MigrationScript, to model: ResolvedModel) { (self.script, self.model) = (script, model) }

  private func policies(allowsLoss: Bool = false) -> [String: EntityMigrationPolicy] {
    let all = script.mappingNames.map { (policyName($0), ScriptedPolicy($0, of: script, allowsLoss: allowsLoss)) }
    return Dictionary(all) { first, _ in first }
  }

  private func policyName(_ name: String) -> String { "\(script.name): \(name)" }

  func plan(_ url: URL, configuration: String?, sources: [ResolvedModel], busyTimeout: Duration?) throws
    -> MigrationPlan
  {
    try SQLiteStore.migrationPlan(
      forStoreAt: url, to: model, mapping: mapping, policies: policies(), configuration: configuration,
      sources: sources, busyTimeout: busyTimeout)
  }

  func run(
    _ url: URL, configuration: String?, sources: [ResolvedModel], allowsLoss: Bool, busyTimeout: Duration?,
    progress: Progress?
  ) throws -> MigrationPlan {
    defer { script.end() }
    return try SQLiteStore.migrate(
      storeAt: url, to: model, mapping: mapping, policies: policies(allowsLoss: allowsLoss),
      configuration: configuration, sources: sources, allowsLoss: allowsLoss, busyTimeout: busyTimeout,
      progress: progress, makingDomains: script.makeRegistry)
  }

  // MARK: The mapping

  /// The mapping that the models imply, with the script's entities as custom mappings.
  private func mapping(from source: ResolvedModel) throws -> MappingModel {
    let inference = MappingInference(from: source, to: model)
    var mapping = inference.mapping
    for name in script.mappingNames {
      let index = try place(of: name, in: &mapping, from: source)
      mapping.entityMappings[index].migrationPolicyClassName = policyName(name)
      mapping.entityMappings[index].kind = .custom
    }
    // No function handles removed objects; the plan lists them.
    mapping.entityMappings.removeAll { $0.destinationEntityName == nil }
    // The script's functions answer the open questions of their entities.
    let open = inference.problems.filter { problem in
      guard
        let index = mapping.entityMappings.firstIndex(where: {
          $0.destinationEntityName == problem.entity && $0.migrationPolicyClassName != nil
        })
      else { return problem.property != nil }
      mapping.entityMappings[index].relationshipMappings.removeAll { $0.name == problem.property }
      return false
    }
    guard let first = open.first else { return mapping }
    throw ModelError(
      .cannotInferMapping,
      message: "\(script.name) has no function for what the models do not tell:\n"
        + open.map { "- \($0.message)" }.joined(separator: "\n"), entity: first.entity, property: first.property)
  }

  /// The index of the entity mapping that a function's name stands for.
  private func place(of name: String, in mapping: inout MappingModel, from source: ResolvedModel) throws -> Int {
    let known = mapping.entityMappings.firstIndex {
      $0.destinationEntityName != nil && ($0.sourceEntityName == name || $0.sourceEntityName != nil && $0.name == name)
    }
    if let known { return known }
    for old in source.entities where name.hasPrefix("\(old.name)To") {
      guard let new = model.entity(String(name.dropFirst(old.name.count + 2))) else { continue }
      mapping.entityMappings.removeAll { $0.sourceEntityName == old.name && $0.destinationEntityName == nil }
      mapping.entityMappings.append(same(old, as: new))
      return mapping.entityMappings.count - 1
    }
    let names = mapping.entityMappings.compactMap(\.sourceEntityName)
    throw ModelError(
      .unknownName,
      message: "\(script.name): \(name) is no entity that stays, nor two of the models, as in "
        + "\(names.first ?? "Person")To\(model.entities.first?.name ?? "Human")\(suggestion(for: name, among: names))")
  }

  /// A mapping between two entities that copies properties of the same name where possible.
  private func same(_ old: ResolvedEntity, as new: ResolvedEntity) -> EntityMapping {
    var mapping = EntityMapping(.custom, from: old.name, to: new.name)
    for property in new.properties {
      guard let slot = old.slot(property.name) else { continue }
      let former = old.properties[slot]
      switch (former.attributeType, property.attributeType) {
      case (_?, _?): mapping.attributeMappings.append(PropertyMapping(property.name, from: .automatic))
      case (nil, nil): mapping.relationshipMappings.append(PropertyMapping(property.name, from: .automatic))
      default: break
      }
    }
    return mapping
  }
}

/// Calls a function of a script for each pair of objects, once all objects exist.
private final class ScriptedPolicy: EntityMigrationPolicy {
  private let name: String
  private let script: MigrationScript
  private let allowsLoss: Bool
  /// The new objects for which the function returned false, so that they are left out.
  private var leftOut: [ManagedObjectID] = []

  init(_ name: String, of script: MigrationScript, allowsLoss: Bool) {
    (self.name, self.script, self.allowsLoss) = (name, script, allowsLoss)
    super.init()
    convertsValues = true
  }

  override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
    try script.begin(source: manager.sourceContext, destination: manager.destinationContext) { [unowned manager] in
      try manager.destinationInstances(of: $0, forEntityMappingNamed: $1)
    }
  }

  override func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    let sources = try manager.sourceInstances(
      forEntityMappingNamed: mapping.name, destinationInstances: [destination])
    guard let source = sources.first else { return }
    guard try script.call(name, old: source, new: destination) else { return leftOut.append(destination.objectID) }
    for attribute in try manager.missingAttributes(of: destination, from: source, in: mapping) {
      try giveNone(to: attribute, of: destination)
    }
  }

  /// Handles an attribute whose new type cannot contain the old value, if the function set no other value.
  ///
  /// If loss is allowed, a required attribute gets its default value, and an optional attribute none.
  private func giveNone(to attribute: ResolvedProperty, of object: ManagedObject) throws {
    guard allowsLoss else {
      throw GraphError(
        .migrationLoss,
        message:
          "\(attribute.name) is \(attribute.attributeType?.modelName ?? "") now, which cannot keep the old value, and the function gives it "
          + "no other: set new.\(attribute.name), or allow the loss", entity: object.entity.name,
        property: attribute.name)
    }
    guard !attribute.isOptional, let initial = attribute.attribute?.defaultValue, !initial.isNull else { return }
    try object.setValue(initial, forKey: attribute.name)
  }

  /// Deletes the objects that are left out, after all objects were connected.
  ///
  /// They are removed from all relationships before, so that no delete rule deletes further objects.
  override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try super.performCustomValidation(forMapping: mapping, manager: manager)
    let context = manager.destinationContext
    try leftOut.forEachBatch { batch in
      try release(Array(batch), in: context)
      for object in try context.objects(with: Array(batch)) where !object.isDeleted {
        for relationship in object.entity.properties {
          switch relationship.kind {
          case .attribute: break
          case .toOne: try object.setObject(nil, forKey: relationship.name)
          case .toMany: try object.setObjects([], forKey: relationship.name)
          }
        }
        try context.delete(object)
      }
      try context.save()
      try context.refreshAllObjects()
      return true
    }
    leftOut = []
  }

  /// Removes objects from relationships without an inverse, which the objects themselves do not know.
  private func release(_ ids: [ManagedObjectID], in context: ManagedObjectContext) throws {
    let gone = Set(ids)
    let entities = Set(ids.compactMap { context.model.entity(of: $0)?.index })
    for owner in context.model.entities {
      for property in owner.properties where property.declaringEntity == owner.index && !property.isTransient {
        guard let relationship = property.relationship, relationship.inverseSlot == nil,
          !entities.isDisjoint(with: context.model.destination(of: relationship).subtree)
        else { continue }
        let leads = try Predicate(
          format: relationship.isToMany ? "ANY %K IN %@" : "%K IN %@", .string(property.name),
          .list(ids.map(Value.objectID)))
        for object in try context.fetch(FetchRequest(owner.name, where: leads)) {
          guard relationship.isToMany else {
            try object.setObject(nil, forKey: property.name)
            continue
          }
          let members = try object.objects(forKey: property.name)
          try object.setObjects(members.filter { !gone.contains($0.objectID) }, forKey: property.name)
        }
      }
    }
  }
}
