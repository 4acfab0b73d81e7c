import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLiteStore

/// A mapping model with all names resolved between two models. Errors are found here, before anything is written.
///
/// Made once per migration: names of mappings, entities, properties and policies are looked up, expressions are
/// compiled, and the mappings that may pass on keys are chosen. Running the mapping then only walks over rows
/// (`MigrationManager`).
struct CompiledMapping {
  /// A compiled entity mapping.
  struct Entry {
    /// The place of the mapping in the mapping model, by which objects are associated.
    let index: Int
    /// The entity mapping.
    let mapping: EntityMapping
    /// The entity of the older model; nil for an added entity.
    let source: ResolvedEntity?
    /// The entity of the newer model; nil for a removed entity.
    let destination: ResolvedEntity?
    /// How the attributes of new objects are made.
    var attributes: [PropertyRecipe] = []
    /// How the relationships of new objects are made.
    var relationships: [PropertyRecipe] = []
    /// The policy of the mapping; the default one if it names none.
    let policy: EntityMigrationPolicy
    /// Whether new objects get the keys of their source objects.
    var keepsKeys = false
  }

  /// The mapping model.
  let model: MappingModel
  /// The older model.
  let source: ResolvedModel
  /// The newer model.
  let destination: ResolvedModel
  /// The entity mappings, in the order of the mapping model.
  private(set) var entries: [Entry] = []

  /// Throws `ModelError` with `.invalidModel` that names the mapping and the property. `policies` are the policies of
  /// the program, by class name.
  init(
    _ model: MappingModel, from source: ResolvedModel, to destination: ResolvedModel,
    policies: [String: EntityMigrationPolicy]
  ) throws {
    (self.model, self.source, self.destination) = (model, source, destination)
    if let obstacle = model.obstacles.first {
      throw ModelError(
        .invalidModel,
        message: "\(obstacle), which nothing here does: take it out of the mapping, or say it in a script or a policy")
    }
    try Self.checkPolicies(of: model, given: policies)
    var names: Set<String> = []
    for (index, mapping) in model.entityMappings.enumerated() {
      guard names.insert(mapping.name).inserted else {
        throw Self.mistake("there are two entity mappings of this name: rename one", in: mapping)
      }
      entries.append(try entry(mapping, index: index, policies: policies))
    }
    for index in entries.indices { try addProperties(to: &entries[index]) }
    giveKeys()
  }

  /// Resolves the entities and the policy of an entity mapping. Throws for unknown entities, and for an abstract
  /// destination.
  private func entry(
    _ mapping: EntityMapping, index: Int, policies: [String: EntityMigrationPolicy]
  ) throws -> Entry {
    let old = try mapping.sourceEntityName.map { try entity($0, in: source, side: "older", mapping) }
    let new = try mapping.destinationEntityName.map { try entity($0, in: destination, side: "newer", mapping) }
    let isRemoval = mapping.kind == .remove
    // An abstract entity has no objects.
    if old?.isAbstract == false, !isRemoval, new?.isAbstract == true {
      throw Self.mistake("\(new?.name ?? "") is abstract: name one of its subentities as the destination", in: mapping)
    }
    let policy = mapping.migrationPolicyClassName.flatMap { policies[$0] } ?? EntityMigrationPolicy()
    return Entry(index: index, mapping: mapping, source: old, destination: isRemoval ? nil : new, policy: policy)
  }

  /// Throws if a policy is missing. Policies are classes of the program that provides the mapping. The error lists all
  /// missing ones.
  private static func checkPolicies(of model: MappingModel, given: [String: EntityMigrationPolicy]) throws {
    var missing: [String: [String]] = [:]
    for mapping in model.entityMappings {
      guard let name = mapping.migrationPolicyClassName, given[name] == nil else { continue }
      missing[name, default: []].append(mapping.name)
    }
    guard !missing.isEmpty else { return }
    let list = missing.sorted { $0.key < $1.key }.map { name, mappings in
      "\(name) (\(mappings.joined(separator: ", ")))\(suggestion(for: name, among: given.keys.sorted()))"
    }
    let several = list.count > 1
    throw ModelError(
      .invalidModel,
      message:
        "the mapping names \(several ? "migration policies" : "a migration policy") of its app that \(several ? "were" : "was") not given: "
        + list.joined(separator: ", ")
        + ". In Swift give an EntityMigrationPolicy for each name (policies:), or let a Lua script do it "
        + "(--mapping FILE.lua, with a function for each entity)")
  }

  /// The entity with this name, on the side that the message names.
  private func entity(
    _ name: String, in model: ResolvedModel, side: String, _ mapping: EntityMapping
  ) throws -> ResolvedEntity {
    if let entity = model.entity(name) { return entity }
    let advice = suggestion(for: name, among: model.entities.map(\.name))
    throw Self.mistake("the \(side) model has no entity \(name)\(advice)", in: mapping)
  }

  // MARK: Properties

  /// Compiles the property mappings of an entity mapping.
  ///
  /// Transient and derived properties are left out: their values are made by the graph.
  private func addProperties(to entry: inout Entry) throws {
    guard let new = entry.destination else { return }
    let mapping = entry.mapping
    var mappings = mapping.attributeMappings + mapping.relationshipMappings
    if mapping.kind == .copy {
      // In a copied entity, properties without a mapping are copied too.
      let named = Set(mappings.map(\.name))
      mappings += new.properties.filter { !named.contains($0.name) }.map { PropertyMapping($0.name, from: .automatic) }
    }
    for property in mappings {
      guard let slot = new.slot(property.name) else {
        let advice = suggestion(for: property.name, among: new.properties.map(\.name))
        throw Self.mistake("\(new.name) has no property \(property.name)\(advice)", in: mapping, property)
      }
      let resolved = new.properties[slot]
      guard !resolved.isTransient, resolved.attribute?.derivationExpression == nil, let old = entry.source else {
        continue
      }
      let compiler = PropertyCompiler(
        mapping: mapping, property: resolved, source: old, models: (source, destination), names: mappingNames,
        leavesUnkept: entry.policy.convertsValues)
      guard let recipe = try compiler.recipe(property) else { continue }
      if resolved.attribute == nil {
        entry.relationships.append(recipe)
      } else {
        entry.attributes.append(recipe)
      }
    }
  }

  /// The indexes of the mappings by name, for expressions that refer to a mapping.
  private var mappingNames: [String: Int] {
    Dictionary(entries.map { ($0.mapping.name, $0.index) }) { first, _ in first }
  }

  // MARK: Keys

  /// Decides which mappings keep keys: each new table takes the keys of a single old table, that of its first mapping,
  /// and a source object passes on its key only once.
  ///
  /// Keeping keys means that object IDs stay valid and that no column of keys has to be translated.
  private mutating func giveKeys() {
    var roots: [EntityIndex: EntityIndex] = [:]
    var given: Set<[EntityIndex]> = []
    for index in entries.indices {
      guard let old = entries[index].source, let new = entries[index].destination else { continue }
      let root = roots[new.root] ?? old.root
      roots[new.root] = root
      entries[index].keepsKeys = root == old.root && given.insert([old.index, new.root]).inserted
    }
  }

  /// The mappings that the lightweight migration's map needs to continue the greatest keys of old tables.
  /// `MigrationMap` is built from these.
  var keptPairs: MappingModel {
    MappingModel(
      entityMappings: entries.filter { $0.source != nil && $0.destination != nil }.map(\.mapping))
  }

  /// The `.invalidModel` error that names mapping and property.
  static func mistake(_ message: String, in mapping: EntityMapping, _ property: PropertyMapping? = nil) -> ModelError {
    ModelError(
      .invalidModel,
      message: "the mapping \(mapping.name)\(property.map { ", \($0.name)" } ?? ""): \(message)",
      entity: mapping.destinationEntityName ?? mapping.sourceEntityName, property: property?.name)
  }
}
