import MoonbaseModel

/// Reads the Lua form of a model (architecture, section 4) from a tree.
struct ModelTreeReader {
  let file: String
  private let mistakes = Mistakes()

  func model(_ tree: ModelTree) throws(ModelError) -> ManagedObjectModel {
    var table = try TreeTable(tree, TreeContext(file: file, subject: "the model"))
    var model = ManagedObjectModel()
    model.versionIdentifiers = try versions(&table)
    for (name, tree) in try table.named("entities") {
      mistakes.attempt { () throws(ModelError) in model.entities.append(try entity(name, tree)) }
    }
    for (name, tree) in try table.named("fetch_requests") {
      let part = ModelPart.fetchRequest(name)
      let context = TreeContext(file: file, subject: "\(part)")
      model.locations[part] = context.location(tree.line)
      mistakes.attempt { () throws(ModelError) in
        model.fetchRequestTemplates[name] = try fetchRequest(tree, context)
      }
    }
    for (name, tree) in try table.named("configurations") {
      let part = ModelPart.configuration(name)
      model.locations[part] = table.context.location(tree.line)
      mistakes.attempt { () throws(ModelError) in
        model.configurations[name] = try table.strings(tree, "\(part)")
      }
    }
    mistakes.attempt { () throws(ModelError) in try table.finish() }
    try mistakes.finish()
    return model
  }

  /// `version = "1"`; a number will do, and so will a list.
  private func versions(_ table: inout TreeTable) throws(ModelError) -> [String] {
    guard let tree = table.take("version") else { return [] }
    switch tree.content {
    case .value(.int(let number)): return ["\(number)"]
    case .value(.double(let number)): return ["\(number)"]
    default: return try table.strings(tree, "version")
    }
  }

  // MARK: Entities

  private func entity(_ name: String, _ tree: ModelTree) throws(ModelError) -> EntityDescription {
    let context = TreeContext(file: file, subject: "").entity(name)
    var table = try TreeTable(tree, context)
    var entity = EntityDescription(name)
    entity.location = context.location(tree.line)
    entity.superentityName = try table.string("parent")
    entity.subentityNames = try table.strings("subentities") ?? []
    entity.managedObjectClassName = try table.string("class")
    entity.isAbstract = try table.bool("abstract") ?? false
    entity.renamingIdentifier = try table.string("renamed_from")
    entity.versionHashModifier = try table.string("version_hash_modifier")
    entity.codeGenerationType = try table.string("code_generation")
    entity.coreSpotlightDisplayNameExpression = try table.string("spotlight_name")
    entity.userInfo = try table.userInfo()
    for (name, tree) in try table.named("attributes") {
      mistakes.attempt { () throws(ModelError) in
        entity.attributes.append(try attribute(name, tree, context.property("attribute", name)))
      }
    }
    for (name, tree) in try table.named("relationships") {
      mistakes.attempt { () throws(ModelError) in
        entity.relationships.append(try relationship(name, tree, context.property("relationship", name)))
      }
    }
    for (name, tree) in try table.named("fetched_properties") {
      mistakes.attempt { () throws(ModelError) in
        entity.fetchedProperties.append(try fetchedProperty(name, tree, context.property("fetched property", name)))
      }
    }
    mistakes.attempt { () throws(ModelError) in try readConstraints(&table, into: &entity) }
    if let tree = table.take("indexes") {
      mistakes.attempt { () throws(ModelError) in entity.indexes = try indexes(tree, context.part("indexes")) }
    }
    try table.finish()
    return entity
  }

  private func readConstraints(_ table: inout TreeTable, into entity: inout EntityDescription) throws(ModelError) {
    guard let tree = table.take("constraints") else { return }
    let list = try TreeTable(tree, table.context.part("constraints"))
    try list.finish(listCount: .max)
    for element in list.list {
      let names = try list.strings(element, "a constraint")
      entity.uniquenessConstraints.append(names)
      entity.constraintLocations[names] = list.context.location(element.line ?? tree.line)
    }
  }

  // MARK: Relationships

  private func relationship(_ name: String, _ tree: ModelTree, _ context: TreeContext) throws(ModelError)
    -> RelationshipDescription
  {
    var table = try TreeTable(tree, context)
    var relationship: RelationshipDescription
    switch (try table.string("to"), try table.string("to_many")) {
    case (let destination?, nil): relationship = .toOne(name, destination)
    case (nil, let destination?): relationship = .toMany(name, destination)
    default: throw context.error("give either to = \"Entity\" or to_many = \"Entity\"", line: tree.line)
    }
    relationship.location = context.location(tree.line)
    relationship.inverseName = try table.string("inverse")
    relationship.isOptional = try table.bool("optional") ?? true
    relationship.isTransient = try table.bool("transient") ?? false
    relationship.minCount = try table.integer("min") ?? 0
    if let maximum = try table.integer("max") {
      if relationship.isToMany == (maximum == 1) {
        throw context.error("max = 1 belongs to a relationship with to, any other to to_many", line: tree.line)
      }
      relationship.maxCount = maximum
    }
    relationship.isOrdered = try table.bool("ordered") ?? false
    relationship.isIndexedBySpotlight = try table.bool("spotlight") ?? false
    relationship.deleteRule = try deleteRule(&table)
    relationship.renamingIdentifier = try table.string("renamed_from")
    relationship.versionHashModifier = try table.string("version_hash_modifier")
    relationship.userInfo = try table.userInfo()
    try table.finish()
    return relationship
  }

  private func deleteRule(_ table: inout TreeTable) throws(ModelError) -> DeleteRule {
    guard let name = try table.string("delete") else { return .nullify }
    guard let rule = DeleteRule(modelName: name) else {
      let names = DeleteRule.allCases.map(\.modelName)
      throw table.context.error(
        "delete is one of \(names.joined(separator: ", ")), not \(name)\(suggestion(for: name, among: names))",
        line: table.line)
    }
    return rule
  }
}
