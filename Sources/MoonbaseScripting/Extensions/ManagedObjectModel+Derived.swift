import MoonbaseGraph
import MoonbaseModel

extension ManagedObjectModel {
  /// Adds the derived attributes that the model lacks as transient ones, which version hashes do not see. Those of an ancestor come
  /// first: where a subentity derives the same name in its own way, it has inherited the attribute.
  mutating func addDerivedAttributes(of swift: ExtensionDomain, _ declarations: [ExtensionDeclaration]) throws {
    for index in ancestorsFirst {
      let name = entities[index].name
      // Nothing says the types of those in Swift code.
      for derived in (swift.extensions[name] ?? []).flatMap(\.derived) where !hasProperty(derived.name, entity: name) {
        addTransient(derived.name, type: .undefined, at: index)
      }
      for declaration in declarations {
        for entry in declaration.entities where entry.name == name { try add(entry, of: declaration, at: index) }
      }
    }
  }

  private var ancestorsFirst: [Int] {
    let byName = entitiesByName
    let depths = entities.map { entity in
      var seen: Set = [entity.name]
      var parent = entity.superentityName
      while let name = parent, seen.insert(name).inserted { parent = byName[name]?.superentityName }
      return seen.count
    }
    return entities.indices.sorted { (depths[$0], $0) < (depths[$1], $1) }
  }

  private mutating func addTransient(_ name: String, type: AttributeType, at index: Int) {
    var attribute = AttributeDescription(name, type: type)
    attribute.isTransient = true
    attribute.isAddedByExtension = true
    entities[index].attributes.append(attribute)
  }

  private mutating func add(
    _ entry: ExtensionDeclaration.Entity, of declaration: ExtensionDeclaration, at index: Int
  ) throws {
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
