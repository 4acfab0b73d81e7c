import MoonbaseModel

/// Which derived attributes are computed from a property, as their declared inputs say: the stored ones, and those in between. How
/// one is computed, and whether it is stored, the behavior of its object says: a subentity may override it.
struct StoredInputs {
  /// A derived attribute one of whose inputs leads to the property.
  struct Dependent {
    let entity: ResolvedEntity
    let slot: Slot
    /// The relationships on the way to the object with the property; none where it is the attribute's own object.
    let path: [ResolvedProperty]
  }

  private var dependents: [PropertyID: [Dependent]] = [:]
  /// Whether no attribute is stored.
  let isEmpty: Bool

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

  func dependents(of property: ResolvedProperty) -> [Dependent] { dependents[property.id] ?? [] }

  /// An input that is a relationship gives objects, of which anything may be read.
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
