import MoonbaseGraph
import MoonbaseModel

extension ManagedObjectModel {
  /// Adds the derived attributes of Swift code that the model lacks. Nothing says their types.
  mutating func addDerivedAttributes(of domain: ExtensionDomain) {
    for index in entities.indices {
      let entity = entities[index].name
      for derived in (domain.extensions[entity] ?? []).flatMap(\.derived)
      where !hasProperty(derived.name, entity: entity) {
        addTransient(derived.name, type: .undefined, at: index)
      }
    }
  }

  private mutating func addTransient(_ name: String, type: AttributeType, at index: Int) {
    var attribute = AttributeDescription(name, type: type)
    attribute.isTransient = true
    attribute.isAddedByExtension = true
    entities[index].attributes.append(attribute)
  }

  /// Adds the derived attributes that the model lacks as transient ones, which version hashes do not see.
  mutating func addDerivedAttributes(of declaration: ExtensionDeclaration) throws {
    for entry in declaration.entities {
      guard let index = entities.firstIndex(where: { $0.name == entry.name }) else { continue }
      for derived in entry.derived where !hasProperty(derived.name, entity: entry.name) {
        if derived.isStored {
          throw ScriptError(
            .invalidExtension,
            message: "\(entry.name).\(derived.name) is to be stored, and the model has no such attribute",
            at: declaration.source.location(of: ["entities", entry.name, "derived", derived.name]),
            entity: entry.name, property: derived.name)
        }
        addTransient(derived.name, type: derived.type ?? .undefined, at: index)
      }
    }
  }

  private func hasProperty(_ name: String, entity: String) -> Bool {
    let byName = entitiesByName
    var current = byName[entity]
    var seen: Set<String> = []
    while let entity = current, seen.insert(entity.name).inserted {
      if entity.attributes.contains(where: { $0.name == name })
        || entity.relationships.contains(where: { $0.name == name })
      {
        return true
      }
      current = entity.superentityName.flatMap { byName[$0] }
    }
    return false
  }
}
