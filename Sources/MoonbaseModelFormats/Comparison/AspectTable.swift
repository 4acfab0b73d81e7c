import MoonbaseModel

/// What an element of a model says, by the keys of its Lua form.
struct AspectTable {
  private var texts: [String: String] = [:]

  init() {}

  init(attribute: AttributeDescription) {
    // What Lua cannot write takes no part; it would not be readable either.
    var plain = attribute
    plain.defaultValue = .null
    plain.validation.allowedValues = nil
    plain.userInfo = [:]
    let tree = (try? ModelTreeWriter.tree(attribute)) ?? (try? ModelTreeWriter.tree(plain))
    if let tree { add(tree, unnamed: ["type"]) }
  }

  init(relationship: RelationshipDescription) {
    var plain = relationship
    plain.userInfo = [:]
    if let tree = (try? ModelTreeWriter.tree(relationship)) ?? (try? ModelTreeWriter.tree(plain)) { add(tree) }
  }

  init(fetchedProperty: FetchedPropertyDescription) {
    var plain = fetchedProperty
    plain.userInfo = [:]
    let tree = (try? ModelTreeWriter.tree(fetchedProperty)) ?? (try? ModelTreeWriter.tree(plain))
    if let tree { add(tree, unnamed: ["entity", "predicate"]) }
  }

  /// What an entity says itself, without its properties.
  init(entity: EntityDescription) {
    var plain = entity
    plain.attributes = []
    plain.relationships = []
    plain.fetchedProperties = []
    // They go by their names, and an archive keeps no other order.
    plain.indexes.sort { $0.name < $1.name }
    var poor = plain
    poor.userInfo = [:]
    if let tree = (try? ModelTreeWriter.tree(plain)) ?? (try? ModelTreeWriter.tree(poor)) { add(tree) }
  }

  /// What a model says beside its entities.
  init(model: ManagedObjectModel) {
    if !model.versionIdentifiers.isEmpty { texts["version"] = model.versionIdentifiers.joined(separator: ", ") }
    for (name, request) in model.fetchRequestTemplates {
      texts["fetch_requests.\(name)"] = ModelTreeWriter.fetch(request).tree.luaText
    }
    for (name, members) in model.configurations {
      texts["configurations.\(name)"] = members.sorted().joined(separator: ", ")
    }
  }

  private mutating func add(_ tree: ModelTree, unnamed: [String] = []) {
    guard case .table(let list, let entries) = tree.content else {
      if let name = unnamed.first { texts[name] = tree.string ?? tree.luaText }
      return
    }
    for (name, element) in zip(unnamed, list) { texts[name] = element.string ?? element.luaText }
    // Names read better without quotation marks, but a value may be an empty string.
    for entry in entries {
      texts[entry.key] = (entry.key == "default" ? nil : entry.tree.string) ?? entry.tree.luaText
    }
  }

  func differences(to other: AspectTable) -> [AspectDifference] {
    Set(texts.keys).union(other.texts.keys).sorted().compactMap { key in
      let (old, new) = (texts[key], other.texts[key])
      return old == new ? nil : AspectDifference(aspect: key, old: old, new: new)
    }
  }
}
