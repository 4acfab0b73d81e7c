import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseScripting

/// The model in the form that the page expects.
///
/// The page requests the list of entities once, and the properties of an entity when the user opens
/// it.
struct InspectModel {
  /// The session whose model is described.
  let session: InspectSession

  /// The store and its entities. No objects are counted.
  ///
  /// Each entity has its parent and its depth in the inheritance, so that the page can indent it.
  func json() -> InspectJSON {
    let stores = session.context.coordinator.persistentStores
    let paths = session.settings.stores.stores.compactMap(\.path)
    return [
      "name": .string(paths.isEmpty ? "a store in memory" : paths.joined(separator: ", ")),
      "version": .string(MoonbaseVersion.text), "stores": .int(stores.count),
      "extensions": .strings(session.context.extensionRegistry.versions.keys.sorted()),
      "entities": .array(
        session.model.entities.map { entity in
          [
            "name": .string(entity.name), "abstract": .bool(entity.isAbstract),
            "parent": .text(entity.parent.map { session.model.entities[$0].name }),
            "depth": .int(depth(of: entity)),
          ]
        }),
    ]
  }

  /// The number of ancestors of an entity.
  private func depth(of entity: ResolvedEntity) -> Int {
    var (depth, parent) = (0, entity.parent)
    while let index = parent { (depth, parent) = (depth + 1, session.model.entities[index].parent) }
    return depth
  }

  /// The properties of an entity.
  ///
  /// The answer also has the names of the subentities and of the fetched properties.
  func json(_ entity: ResolvedEntity) -> InspectJSON {
    [
      "name": .string(entity.name), "abstract": .bool(entity.isAbstract),
      "subentities": .strings(session.model.entities[entity.subtree].dropFirst().map(\.name)),
      "properties": .array(entity.allProperties.map { property($0, of: entity) }),
      "fetched": .strings(entity.fetchedProperties.keys.sorted()),
    ]
  }

  /// A property with its type, its destination, its derivation and whether the page can edit it.
  func property(_ property: ResolvedProperty, of entity: ResolvedEntity) -> InspectJSON {
    let destination = property.relationship.map { session.model.destination(of: $0) }
    return [
      "name": .string(property.name), "type": .string(Self.type(property)), "kind": .string(Self.kind(property)),
      "destination": .text(destination?.name), "ordered": .bool(property.relationship?.isOrdered ?? false),
      "inverse": .text(property.relationship?.description.inverseName),
      "required": .bool(property.isRequired),
      "transient": .bool(property.isTransient && !entity.isAdded(property.slot)),
      "transformer": .text(property.attribute?.valueTransformerName),
      "derived": .text(derivation(property, of: entity)),
      "editable": .bool(isEditable(property, of: entity)),
      "allowed": .strings(property.attribute?.validation.allowedValues?.map(\.description) ?? []),
    ]
  }

  /// The expression, the stored copy or the inputs of a derived value, or nil if the value is not derived.
  ///
  /// - Parameters:
  ///   - property: An attribute or a relationship.
  ///   - entity: The entity of the shown object, which may inherit the property.
  private func derivation(_ property: ResolvedProperty, of entity: ResolvedEntity) -> String? {
    if let expression = property.attribute?.derivationExpression { return "\(expression)" }
    guard let derived = derived(property.name, of: entity) else { return nil }
    if let shadow = derived.shadow { return shadow }
    return (derived.inputs ?? derived.ownInputs)?.joined(separator: ", ") ?? "an extension"
  }

  /// The derived attribute that an extension adds or defines.
  ///
  /// The extensions of the entity are searched first, and then those of its ancestors.
  func derived(_ name: String, of entity: ResolvedEntity) -> DerivedAttribute? {
    var next: ResolvedEntity? = entity
    while let entity = next {
      for entry in session.context.extensionRegistry.extensions[entity.name] ?? [] {
        if let found = (entry.derived + entry.stored).first(where: { $0.name == name }) { return found }
      }
      next = entity.parent.map { session.model.entities[$0] }
    }
    return nil
  }

  /// Whether the page offers a field for a property. A derived attribute can be edited if its
  /// extension has a setter.
  func isEditable(_ property: ResolvedProperty, of entity: ResolvedEntity) -> Bool {
    if property.isDerived { return false }
    if let derived = derived(property.name, of: entity) { return derived.set != nil }
    return property.attributeType != .objectID
  }

  /// The kind in the answer: `attribute`, `toOne` or `toMany`.
  static func kind(_ property: ResolvedProperty) -> String {
    switch property.kind {
    case .attribute: "attribute"
    case .toOne: "toOne"
    case .toMany: "toMany"
    }
  }

  /// The type of an attribute, such as `integer16`, or the kind of a relationship.
  static func type(_ property: ResolvedProperty) -> String {
    switch property.kind {
    case .attribute(let attribute): attribute.type.modelName
    case .toOne, .toMany: kind(property)
    }
  }

  /// The diagram as a separate document.
  ///
  /// The title is the name of the first store's file.
  func diagram() -> HTTPResponse {
    let title = session.settings.stores.stores.compactMap(\.path).first.map { URL(literalPath: $0).lastPathComponent }
    let svg = ModelDiagram(session.model.base ?? session.model, title: title ?? "").svg
    return HTTPResponse(status: 200, type: "image/svg+xml", body: Data(svg.utf8))
  }
}
