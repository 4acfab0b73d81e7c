import MoonbasePlatform

/// Refuses inconsistent models. Code that runs after the check can rely on every name.
///
/// The checker works on descriptions, before anything is numbered. It collects mistakes, so that an
/// author sees all of them at once. `resolved()` makes and uses it.
struct ModelChecker {
  /// The deepest hierarchy of entities allowed, because entities are walked recursively later.
  private static let greatestDepth = 100
  /// The model to check.
  let model: ManagedObjectModel
  /// The entities by name.
  let entities: [String: EntityDescription]
  /// The relationships of entities by name, indexed on demand.
  let relationships = RelationshipsByName()
  /// The mistakes so far.
  private let mistakes = Mistakes()

  /// A checker of a model.
  init(model: ManagedObjectModel) {
    self.model = model
    entities = model.entitiesByName
  }

  /// Throws all mistakes as one error. Mistakes in names and inheritance are thrown first, because the remaining checks
  /// depend on them.
  ///
  /// The order is names, parents, properties, constraints, indexes, templates and configurations.
  func check() throws(ModelError) {
    try checkEntityNames()
    try checkParents()
    try mistakes.finish()
    let names = try PropertyNames(of: model)
    for entity in model.entities {
      try ModelError.chargeEntity()
      for (name, location) in entity.propertyNames { checkName(name, of: entity, at: location) }
      for mistake in names.mistakes[entity.name] ?? [] { mistakes.add(mistake) }
      for attribute in entity.attributes {
        mistakes.attempt { () throws(ModelError) in try check(attribute, of: entity) }
      }
      for relationship in entity.relationships {
        mistakes.attempt { () throws(ModelError) in try check(relationship, of: entity) }
      }
      for property in entity.fetchedProperties {
        mistakes.attempt { () throws(ModelError) in try check(property, of: entity) }
      }
      try checkConstraints(of: entity)
      try checkIndexes(of: entity)
    }
    try checkFetchRequestTemplates()
    try checkConfigurations()
    try mistakes.finish()
  }

  // MARK: Entities

  /// Checks that names of entities are valid and unique.
  private func checkEntityNames() throws(ModelError) {
    var seen: Set<String> = []
    for entity in model.entities {
      try ModelError.chargeEntity()
      if entity.name.isEmpty {
        mistakes.add(invalid("an entity has no name: give it one", of: entity))
      } else if !Identifier.isValid(entity.name) {
        mistakes.add(invalid("entity \(Identifier.shown(entity.name)): \(Identifier.rule)", of: entity))
      } else if !seen.insert(entity.name).inserted {
        mistakes.add(invalid("entity \(entity.name) is declared twice: remove or rename one of them", of: entity))
      }
    }
  }

  /// Checks that parents exist and that no entity inherits from itself.
  private func checkParents() throws(ModelError) {
    for entity in model.entities where !mistakes.isFull {
      try ModelError.chargeEntity()
      if let mistake = mistake(inLineageOf: entity) { mistakes.add(mistake) }
    }
  }

  /// The mistake in an entity's chain of parents; nil if there is none.
  private func mistake(inLineageOf entity: EntityDescription) -> ModelError? {
    var seen: Set<String> = [entity.name]
    var current = entity
    while let name = current.superentityName {
      guard let parent = entities[name] else {
        // A mistake of an ancestor is reported once, for the ancestor.
        guard current.name == entity.name else { return nil }
        return invalid(
          "entity \(current.name): its parent \(name) is not in the model\(nearestEntity(name))", of: current)
      }
      if name == entity.name {
        return invalid(
          "entity \(entity.name) inherits from itself: \(current.name) has the parent \(name), give it another",
          of: entity)
      }
      if !seen.insert(name).inserted { return nil }
      if seen.count > Self.greatestDepth {
        return invalid(
          "entity \(entity.name) has more than \(Self.greatestDepth) ancestors: make the hierarchy flatter", of: entity)
      }
      current = parent
    }
    return nil
  }

  /// Checks the name of a property. Reserved names are allowed in models of other programs.
  private func checkName(_ name: String, of entity: EntityDescription, at location: SourceLocation?) {
    let advice =
      name.isEmpty
      ? "entity \(entity.name) has a property without a name: give it one"
      : RefusedPropertyNames.names.contains(name) && !model.allowsUnknownClasses
        ? "entity \(entity.name): no property may be called \(name), the name of a method of every object: rename it"
        : Identifier.isValid(name)
          ? nil : "entity \(entity.name), property \(Identifier.shown(name)): \(Identifier.rule)"
    if let advice {
      mistakes.add(ModelError(.invalidModel, message: advice, at: location, entity: entity.name, property: name))
    }
  }

  /// Checks that uniqueness constraints name attributes or to-one relationships.
  private func checkConstraints(of entity: EntityDescription) throws(ModelError) {
    if entity.uniquenessConstraints.isEmpty { return }
    let lineage = lineage(of: entity)
    let names =
      lineage.flatMap(\.attributes).map(\.name) + lineage.flatMap(\.relationships).filter { !$0.isToMany }.map(\.name)
    let known = Set(names)
    let composites = Set(lineage.flatMap(\.attributes).filter { $0.type == .composite }.map(\.name))
    // In a model without its app these constraints do no harm.
    let refused = model.allowsUnknownClasses ? [] : composites
    for constraint in entity.uniquenessConstraints {
      try ModelError.chargeProperty()
      let place = entity.constraintLocations[constraint]
      if constraint.isEmpty {
        mistakes.add(
          invalid("entity \(entity.name): a uniqueness constraint names no attribute", of: entity, at: place))
      }
      for name in constraint where !known.contains(name) || refused.contains(name) {
        let key = String(name.prefix { $0 != "." })
        let what =
          composites.contains(key)
          ? "which is \(key == name ? "" : "an element of ")a composite: a constraint is over attributes and to-one relationships, "
            + "so give what must be unique an attribute of its own"
          : "which is no attribute or to-one relationship of it" + suggestion(for: name, among: names)
        mistakes.add(
          invalid("entity \(entity.name): its uniqueness constraint names \(name), \(what)", of: entity, at: place))
      }
    }
  }

  /// Whether a key path ends at an element of a composite.
  private func isElement(_ path: String, of lineage: [EntityDescription]) -> Bool {
    let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard keys.count > 1, let owner = lineage.lazy.flatMap(\.attributes).first(where: { $0.name == keys[0] }) else {
      return false
    }
    return owner.element(at: keys.dropFirst()) != nil
  }

  /// Checks that indexes have unique names and name existing properties.
  private func checkIndexes(of entity: EntityDescription) throws(ModelError) {
    if entity.indexes.isEmpty { return }
    var seen: Set<String> = []
    let lineage = lineage(of: entity)
    let names = lineage.flatMap(\.propertyNames).map(\.name)
    let known = Set(names)
    let withoutColumn = Set(
      lineage.flatMap(\.relationships).filter(\.isToMany).map(\.name) + lineage.flatMap(\.fetchedProperties).map(\.name)
    )
    for index in entity.indexes {
      try ModelError.chargeProperty()
      func refuse(_ what: @autoclosure () -> String) {
        mistakes.add(invalid("entity \(entity.name)\(what())", of: entity, at: index.location))
      }
      if !seen.insert(index.name).inserted { refuse(" has two indexes \(index.name)") }
      for element in index.elements where !element.isExpression {
        let name = element.property
        if !known.contains(name), isElement(name, of: lineage) { continue }
        if !known.contains(name) {
          refuse(
            ": its index \(index.name) names \(name), which it does not have\(suggestion(for: name, among: names))")
        } else if withoutColumn.contains(name), !model.allowsUnknownClasses {
          refuse(
            ": its index \(index.name) names \(name), which has no column: index attributes and to-one relationships")
        }
      }
    }
  }

  // MARK: Model

  /// Checks that the entities of fetch request templates exist.
  private func checkFetchRequestTemplates() throws(ModelError) {
    for (name, request) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key })
    where entities[request.entityName] == nil {
      try ModelError.chargeProperty()
      let wanted = request.entityName
      mistakes.add(
        ModelError(
          .invalidModel,
          message: "fetch request \(name): its entity \(wanted) is not in the model\(nearestEntity(wanted))",
          at: model.locations[.fetchRequest(name)]))
    }
  }

  /// Checks that the entities of configurations exist.
  private func checkConfigurations() throws(ModelError) {
    var homes: [String: Set<String>] = [:]
    for (name, members) in model.configurations.sorted(by: { $0.key < $1.key }) {
      for member in members {
        try ModelError.chargeProperty()
        if entities[member] == nil {
          mistakes.add(
            ModelError(
              .invalidModel,
              message:
                "configuration \(name) names \(member), which is not an entity of the model\(nearestEntity(member))",
              at: model.locations[.configuration(name)]))
        }
        homes[member, default: []].insert(name)
      }
    }
    for entity in model.entities {
      guard let own = homes[entity.name] else { continue }
      for relationship in entity.relationships {
        guard let other = homes[relationship.destinationEntityName], own.isDisjoint(with: other) else { continue }
        mistakes.add(
          invalid(
            "\(entity.name).\(relationship.name) leads to \(relationship.destinationEntityName), which no configuration holds "
              + "together with \(entity.name): relationships cannot cross stores, use a fetched property", of: entity,
            relationship: relationship))
      }
    }
  }

  // MARK: Looking around

  /// An entity and its ancestors, the topmost first.
  ///
  /// The list is cut off at `greatestDepth`, for models that are not checked yet.
  func lineage(of entity: EntityDescription) -> [EntityDescription] {
    var result = [entity]
    var current = entity
    while let name = current.superentityName, let parent = entities[name], result.count <= Self.greatestDepth {
      result.append(parent)
      current = parent
    }
    return result.reversed()
  }

  /// A suggestion of a similar entity name, for a message.
  func nearestEntity(_ name: String) -> String { suggestion(for: name, among: model.entities.map(\.name)) }

  /// An error about an entity or one of its relationships.
  func invalid(
    _ message: String, of entity: EntityDescription, relationship: RelationshipDescription? = nil,
    at location: SourceLocation? = nil
  ) -> ModelError {
    ModelError(
      .invalidModel, message: message, at: location ?? relationship?.location ?? entity.location, entity: entity.name,
      property: relationship?.name)
  }
}
