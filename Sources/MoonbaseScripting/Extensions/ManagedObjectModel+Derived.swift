import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

extension ManagedObjectModel {
  /// Adds the derived attributes that the model lacks as transient ones, which version hashes do not see. Those of an ancestor come
  /// first: where a subentity derives the same name in its own way, it has inherited the attribute.
  mutating func addDerivedAttributes(of swift: ExtensionDomain, _ declarations: [ExtensionDeclaration]) throws {
    var known = KnownProperties(of: self)
    let entries = Dictionary(
      grouping: declarations.flatMap { declaration in declaration.entities.map { (declaration, $0) } }, by: \.1.name)
    for index in ancestorsFirst {
      let name = entities[index].name
      // Nothing says the types of those in Swift code.
      for derived in (swift.extensions[name] ?? []).flatMap(\.derived) where !known.have(derived.name, of: name) {
        addTransient(derived.name, type: .undefined, at: index, to: &known, location: nil)
      }
      for (declaration, entry) in entries[name] ?? [] { try add(entry, of: declaration, at: index, to: &known) }
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

  private mutating func addTransient(
    _ name: String, type: AttributeType, at index: Int, to known: inout KnownProperties, location: SourceLocation?
  ) {
    known.add(name, of: entities[index].name)
    var attribute = AttributeDescription(name, type: type)
    attribute.isTransient = true
    attribute.isAddedByExtension = true
    attribute.location = location
    entities[index].attributes.append(attribute)
  }

  private mutating func add(
    _ entry: ExtensionDeclaration.Entity, of declaration: ExtensionDeclaration, at index: Int,
    to known: inout KnownProperties
  ) throws {
    for derived in entry.derived where !known.have(derived.name, of: entry.name) {
      let location = declaration.source.location(of: ["entities", entry.name, "derived", derived.name])
      if derived.isStored {
        let hint = suggestion(for: derived.name, among: known.names(of: entry.name))
        throw ScriptError(
          .invalidExtension,
          message: "\(entry.name).\(derived.name) is to be stored, and the model has no such attribute\(hint)",
          at: location, entity: entry.name, property: derived.name)
      }
      addTransient(derived.name, type: derived.type ?? .undefined, at: index, to: &known, location: location)
    }
  }
}

/// The names of the attributes and relationships of entities, looked up for each derived attribute of an extension.
private struct KnownProperties {
  private var own: [String: Set<String>] = [:]
  private var parents: [String: String] = [:]

  init(of model: ManagedObjectModel) {
    for entity in model.entities {
      own[entity.name, default: []].formUnion(entity.attributes.map(\.name) + entity.relationships.map(\.name))
      parents[entity.name] = entity.superentityName
    }
  }

  /// Whether an entity has a property of a name, or inherits one.
  func have(_ name: String, of entity: String) -> Bool {
    var current: String? = entity
    var seen: Set<String> = []
    while let entity = current, seen.insert(entity).inserted {
      if own[entity]?.contains(name) == true { return true }
      current = parents[entity]
    }
    return false
  }

  /// The names of an entity's properties, inherited ones too.
  func names(of entity: String) -> [String] {
    var result: [String] = []
    var current: String? = entity
    var seen: Set<String> = []
    while let entity = current, seen.insert(entity).inserted {
      result += (own[entity] ?? []).sorted()
      current = parents[entity]
    }
    return result
  }

  mutating func add(_ name: String, of entity: String) { own[entity, default: []].insert(name) }
}
