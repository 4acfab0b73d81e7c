import MoonbasePlatform

/// Computes the version hashes of entities. Parents must be added before their children.
///
/// The hash is SHA-256 over the entity's name, whether it is abstract, the parent's hash, the
/// hashes of its properties by name, constraints and the hash modifier. Transient properties do not
/// contribute. The order of bytes follows Core Data, so that stores of apps open here.
struct EntityVersionHasher {
  /// The hash of each entity added so far.
  private(set) var hashes: [String: Data] = [:]
  /// The entities for which Apple's hash is not known.
  private(set) var unproven: Set<String> = []
  /// The hashes of all properties of an entity, for its subentities.
  private var inherited: [String: [(name: String, hash: Data)]] = [:]

  /// Adds an entity, whose parent must have been added.
  mutating func add(_ entity: EntityDescription) {
    let parent = entity.superentityName
    var properties = parent.flatMap { inherited[$0] } ?? []
    for attribute in entity.attributes where !attribute.isTransient {
      properties.append((attribute.name, attribute.versionHash))
      if !attribute.hasProvenVersionHash { unproven.insert(entity.name) }
    }
    for relationship in entity.relationships where !relationship.isTransient {
      properties.append((relationship.name, relationship.versionHash))
    }
    if let parent, unproven.contains(parent) { unproven.insert(entity.name) }
    inherited[entity.name] = properties
    hashes[entity.name] = hash(of: entity, parent: parent.flatMap { hashes[$0] }, properties: properties)
  }

  /// The hash of an entity.
  private func hash(of entity: EntityDescription, parent: Data?, properties: [(name: String, hash: Data)]) -> Data {
    var bytes = Data(entity.name.utf8)
    bytes.append(entity.isAbstract ? 1 : 0)
    if let parent { bytes += parent }
    for property in properties.sorted(by: { $0.name.literallyPrecedes($1.name) }) { bytes += property.hash }
    let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
    for constraint in constraints.sorted(by: { $0.literallyPrecedes($1) }) { bytes += Data(constraint.utf8) }
    bytes += Data((entity.versionHashModifier ?? "").utf8)
    return SHA2.sha256(bytes)
  }
}

extension ModelVersion {
  /// Hashes entities in an order with parents first, as in a resolved model.
  package init(parentsFirst entities: some Sequence<EntityDescription>) {
    var hasher = EntityVersionHasher()
    for entity in entities { hasher.add(entity) }
    self.init(hashes: hasher.hashes, unprovenEntities: hasher.unproven)
  }
}
