import MoonbaseModel

/// Reads the Lua form of a model from a tree. `docs/models.md` describes the form.
///
/// Mistakes of independent parts are collected, so that a user sees all of them at once. References
/// between entities are not checked here; `resolved()` does that.
struct ModelTreeReader {
  /// The name of the file, for errors.
  let file: String
  /// The mistakes so far, shared by all parts.
  private let mistakes = Mistakes()

  /// Reads a model. Throws `.invalidModel` with the first mistake and the others.
  func model(_ tree: ModelTree) throws(ModelError) -> ManagedObjectModel {
    var table = try TreeFields(tree, context: ReadingContext(file: file, subject: "the model"))
    var model = ManagedObjectModel()
    model.versionIdentifiers = try versions(&table)
    model.allowsUnknownClasses = try table.flag("imported") ?? false
    for (name, tree) in try table.named("entities") {
      mistakes.attempt { () throws(ModelError) in model.entities.append(try entity(name, from: tree)) }
    }
    for (name, tree) in try table.named("fetch_requests") {
      let part = ModelPart.fetchRequest(name)
      let context = ReadingContext(file: file, subject: "\(part)")
      model.locations[part] = context.location(tree.line)
      mistakes.attempt { () throws(ModelError) in
        model.fetchRequestTemplates[name] = try fetchRequest(tree, in: context)
      }
    }
    for (name, tree) in try table.named("configurations") {
      let part = ModelPart.configuration(name)
      model.locations[part] = table.context.location(tree.line)
      mistakes.attempt { () throws(ModelError) in
        model.configurations[name] = try table.strings(tree, what: "\(part)")
      }
    }
    mistakes.attempt { () throws(ModelError) in try table.finish(advice: Self.placeOfEntity) }
    try mistakes.finish()
    return model
  }

  /// Advice for an entity, recognised by its capitalised name, placed beside `entities` instead of in it.
  private static func placeOfEntity(_ key: String, _ tree: ModelTree) -> String? {
    guard case .table = tree.content, key.first?.isUppercase == true, key.lowercased() != "entities" else { return nil }
    return "; entities belong under entities: entities = { \(key) = { ... } }"
  }

  /// Reads `version = "1"`; a number or a list is also accepted.
  private func versions(_ table: inout TreeFields) throws(ModelError) -> [String] {
    guard let tree = table.read("version") else { return [] }
    switch tree.content {
    case .value(.int(let number)): return ["\(number)"]
    case .value(.double(let number)): return ["\(number)"]
    default: return try table.strings(tree, what: "version")
    }
  }

  // MARK: Entities

  /// Reads an entity, with mistakes of its properties collected.
  private func entity(_ name: String, from tree: ModelTree) throws(ModelError) -> EntityDescription {
    let context = ReadingContext(file: file, subject: "").entity(name)
    var table = try TreeFields(tree, context: context)
    var entity = EntityDescription(name)
    entity.location = context.location(tree.line)
    try table.read(into: &entity)
    entity.subentityNames = try table.strings("subentities") ?? []
    entity.userInfo = try table.userInfo()
    for (name, tree) in try table.named("attributes") {
      mistakes.attempt { () throws(ModelError) in
        entity.attributes.append(try attribute(name, from: tree, in: context.property("attribute", name: name)))
      }
    }
    for (name, tree) in try table.named("relationships") {
      mistakes.attempt { () throws(ModelError) in
        entity.relationships.append(
          try relationship(name, from: tree, in: context.property("relationship", name: name)))
      }
    }
    for (name, tree) in try table.named("fetched_properties") {
      mistakes.attempt { () throws(ModelError) in
        entity.fetchedProperties.append(
          try fetchedProperty(name, from: tree, in: context.property("fetched property", name: name)))
      }
    }
    mistakes.attempt { () throws(ModelError) in try readConstraints(&table, into: &entity) }
    if let tree = table.read("indexes") {
      mistakes.attempt { () throws(ModelError) in entity.indexes = try indexes(tree, in: context.part("indexes")) }
    }
    try table.finish { key, _ in
      Self.extensionKeys.contains(key) ? ": it belongs to an extension, which goes with a model" : nil
    }
    return entity
  }

  /// Keys of an entity that are valid in extensions but not in models.
  private static let extensionKeys: Set = ["normalize", "validate", "derived"]

  /// Reads the uniqueness constraints: `{ { "name" }, { "first", "last" } }`.
  private func readConstraints(_ table: inout TreeFields, into entity: inout EntityDescription) throws(ModelError) {
    guard let tree = table.read("constraints") else { return }
    let list = try TreeFields(tree, context: table.context.part("constraints"))
    try list.finish(listCount: .max)
    for element in list.list {
      let names = try list.strings(element, what: "a constraint")
      entity.uniquenessConstraints.append(names)
      entity.constraintLocations[names] = list.context.location(element.line ?? tree.line)
    }
  }

  // MARK: Relationships

  /// Reads a relationship: `{ to = "Person", inverse = "pets", delete = "cascade" }`.
  ///
  /// Throws `.invalidModel` unless exactly one of `to` and `to_many` is given, and for a `max` that
  /// contradicts it.
  private func relationship(_ name: String, from tree: ModelTree, in context: ReadingContext) throws(ModelError)
    -> RelationshipDescription
  {
    var table = try TreeFields(tree, context: context)
    var relationship: RelationshipDescription
    switch (try table.text("to"), try table.text("to_many")) {
    case (let destination?, nil): relationship = .toOne(name, destination: destination)
    case (nil, let destination?): relationship = .toMany(name, destination: destination)
    default: throw context.error("give either to = \"Entity\" or to_many = \"Entity\"", line: tree.line)
    }
    relationship.location = context.location(tree.line)
    try table.read(into: &relationship)
    if let maximum = try table.integer("max") {
      if relationship.isToMany == (maximum == 1) {
        throw context.error("max = 1 belongs to a relationship with to, any other to to_many", line: tree.line)
      }
      relationship.maxCount = maximum
    }
    relationship.deleteRule = try table.choice("delete", of: DeleteRule.allCases, word: \.modelName) ?? .nullify
    relationship.userInfo = try table.userInfo()
    try table.finish()
    return relationship
  }
}
