import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The derived attributes that extensions add to a model. Version hashes, rows and stores do not include them.
/// Attributes of ancestors come first, because a subentity that derives the same name has inherited the attribute.
///
/// A value type, built once for each generation: the model with these attributes becomes the contexts' model
/// (`ResolvedModel`). Mistakes are collected, not thrown.
struct AddedAttributes {
  /// The attributes, ancestors first. An attribute that the model or an ancestor already has is not added.
  private(set) var all: [AddedAttribute] = []
  /// The properties of the model and of the attributes added so far.
  private var known: KnownProperties
  private let mistakes: ExtensionMistakes

  /// Collects the attributes of Swift code and of declarations. Within an entity, Swift code comes first.
  init(
    to model: ManagedObjectModel, by swift: ExtensionRegistry, _ declarations: [ExtensionDeclaration],
    mistakes: ExtensionMistakes
  ) {
    self.mistakes = mistakes
    known = KnownProperties(of: model)
    let entries = Dictionary(
      grouping: declarations.flatMap { declaration in declaration.entities.map { (declaration, $0) } }, by: \.1.name)
    for name in model.ancestorsFirst.map({ model.entities[$0].name }) {
      for derived in (swift.extensions[name] ?? []).flatMap(\.derived) {
        add(AddedAttribute(entity: name, name: derived.name, type: derived.type))
      }
      for (declaration, entry) in entries[name] ?? [] { add(entry, of: declaration) }
    }
  }

  /// Adds an attribute unless the entity has one of this name. An ancestor's added attribute of another type is a
  /// mistake.
  private mutating func add(_ attribute: AddedAttribute) {
    guard known.have(attribute.name, of: attribute.entity) else {
      known.add(attribute.name, of: attribute.entity)
      all.append(attribute)
      return
    }
    for other in all where other.name == attribute.name && known.isAncestor(other.entity, of: attribute.entity) {
      guard let message = attribute.mismatch(overriding: other.type, of: other.entity) else { continue }
      mistakes.add(
        ScriptError(
          .invalidExtension, message: message, at: attribute.location, entity: attribute.entity,
          property: attribute.name))
    }
  }

  /// Adds the derived attributes of a declaration. A stored attribute must exist in the model, else it is a mistake
  /// with a suggestion.
  private mutating func add(_ entry: ExtensionDeclaration.Entity, of declaration: ExtensionDeclaration) {
    for derived in entry.derived {
      let location = declaration.source.location(of: ["entities", entry.name, "derived", derived.name])
      if derived.isStored, !known.have(derived.name, of: entry.name) {
        let hint = suggestion(for: derived.name, among: known.names(of: entry.name))
        mistakes.add(
          ScriptError(
            .invalidExtension,
            message: "\(entry.name).\(derived.name) is to be stored, and the model has no such attribute"
              + (hint.isEmpty ? ": add it to the model, or leave stored out" : hint),
            at: location, entity: entry.name, property: derived.name))
      }
      add(AddedAttribute(entity: entry.name, name: derived.name, type: derived.type, location: location))
    }
  }
}

extension ManagedObjectModel {
  /// The indexes of the entities, roots before their subentities, otherwise in the model's order. A cycle of parents
  /// ends the walk; the model's check reports it elsewhere.
  fileprivate var ancestorsFirst: [Int] {
    let byName = entitiesByName
    let depths = entities.map { entity in
      var seen: Set = [entity.name]
      var parent = entity.superentityName
      while let name = parent, seen.insert(name).inserted { parent = byName[name]?.superentityName }
      return seen.count
    }
    return entities.indices.sorted { (depths[$0], $0) < (depths[$1], $1) }
  }
}

/// The names of the properties of entities, for lookups by derived attributes of extensions.
///
/// A table by names, because the resolved model does not exist yet while attributes are added.
private struct KnownProperties {
  /// The properties that an entity declares itself.
  private var own: [String: Set<String>] = [:]
  /// The parents by entity; roots have none.
  private var parents: [String: String] = [:]

  init(of model: ManagedObjectModel) {
    for entity in model.entities {
      own[entity.name, default: []].formUnion(entity.attributes.map(\.name) + entity.relationships.map(\.name))
      parents[entity.name] = entity.superentityName
    }
  }

  /// Whether an entity has or inherits a property with this name. Constant time per ancestor.
  func have(_ name: String, of entity: String) -> Bool {
    var current: String? = entity
    var seen: Set<String> = []
    while let entity = current, seen.insert(entity).inserted {
      if own[entity]?.contains(name) == true { return true }
      current = parents[entity]
    }
    return false
  }

  /// Whether an entity equals another entity or is its ancestor.
  func isAncestor(_ ancestor: String, of entity: String) -> Bool {
    var current: String? = entity
    var seen: Set<String> = []
    while let entity = current, seen.insert(entity).inserted {
      if entity == ancestor { return true }
      current = parents[entity]
    }
    return false
  }

  /// The names of an entity's properties, including inherited ones. The entity's own names come first.
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

  /// Adds a name to an entity's own properties.
  mutating func add(_ name: String, of entity: String) { own[entity, default: []].insert(name) }
}
