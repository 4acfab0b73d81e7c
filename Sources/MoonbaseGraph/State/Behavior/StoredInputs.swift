import MoonbaseModel

/// Maps a property to the derived attributes whose declared inputs contain it, both stored attributes and those
/// between.
///
/// Over-approximates: a subentity may override an attribute, so callers look up the behavior of each object.
struct StoredInputs {
  /// A derived attribute with an input path that ends at, or passes through, the property.
  struct Dependent {
    let entity: ResolvedEntity
    let slot: Slot
    /// The relationships from the attribute's object to the object with the property; empty if both are the same
    /// object.
    let path: [ResolvedProperty]
  }

  private var dependents: [PropertyID: [Dependent]] = [:]
  /// Whether the model has no stored derived attribute.
  let isEmpty: Bool

  /// Collects the declared inputs of all derived attributes, if any is stored.
  init(_ model: ResolvedModel, registry: ExtensionRegistry) {
    isEmpty = !registry.extensions.values.joined().contains { !$0.stored.isEmpty }
    guard !isEmpty else { return }
    for (name, entries) in registry.extensions {
      guard let entity = model.entity(name) else { continue }
      for entry in entries {
        for derived in entry.stored + entry.derived { add(derived, of: entity, in: model) }
      }
    }
  }

  /// The derived attributes that may have to be computed again after a change of a property.
  func dependents(of property: ResolvedProperty) -> [Dependent] { dependents[property.id] ?? [] }

  /// An input that ends at a relationship gives the getter objects, of which it may read any property.
  private mutating func addAll(of place: ResolvedEntity, _ dependent: Dependent, in model: ResolvedModel) {
    let properties = place.subtree.flatMap { model.entities[$0].properties }
    for id in Set(properties.map(\.id)) { dependents[id, default: []].append(dependent) }
  }

  private mutating func add(_ derived: DerivedAttribute, of entity: ResolvedEntity, in model: ResolvedModel) {
    guard let slot = entity.slot(derived.name) else { return }
    for input in derived.inputs ?? derived.ownInputs ?? [] {
      var place = entity
      var path: [ResolvedProperty] = []
      var end: ResolvedProperty?
      for key in input.split(separator: ".") where !key.hasPrefix("@") {
        guard let property = place.property(String(key)) else { break }
        dependents[property.id, default: []].append(
          Dependent(entity: entity, slot: slot, path: path))
        end = property
        guard let relationship = property.relationship else { break }
        path.append(property)
        place = model.destination(of: relationship)
      }
      guard end?.relationship != nil, !input.contains("@") else { continue }
      addAll(of: place, Dependent(entity: entity, slot: slot, path: path), in: model)
    }
  }
}
