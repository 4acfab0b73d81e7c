import MoonbasePlatform

/// Computes the version hashes of entities. Parents must be added before their children.
struct EntityVersionHasher {
  private(set) var hashes: [String: Data] = [:]
  private(set) var unproven: Set<String> = []
  private var inherited: [String: [(name: String, hash: Data)]] = [:]

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
