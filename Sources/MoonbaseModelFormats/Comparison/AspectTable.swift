import MoonbaseModel

/// The settings of a model element, by the keys of its Lua form.
///
/// `ModelComparer` makes a table for each element of both models, and subtracts one from the other.
struct AspectTable {
  /// The values by key; defaults are absent.
  private var values: [String: AspectValue] = [:]

  /// The table of a missing element.
  init() {}

  /// The aspects of a description.
  init<Owner: Described>(_ owner: Owner) {
    add(owner)
    // A renaming identifier equal to the name is the default.
    if let named = owner as? any NamedDescription, named.renamingIdentifier == named.name {
      values["renamed_from"] = nil
    }
  }

  /// The settings of a fetched property and of its fetch request.
  init(fetchedProperty property: FetchedPropertyDescription) {
    add(property.fetchRequest)
    add(property)
  }

  /// The settings of an entity, without its properties.
  init(entity: EntityDescription) {
    var plain = entity
    plain.attributes = []
    plain.relationships = []
    plain.fetchedProperties = []
    // Indexes are identified by name, and an archive does not keep their order.
    plain.indexes.sort { $0.name < $1.name }
    self.init(plain)
  }

  /// The settings of a model besides its entities.
  init(model: ManagedObjectModel) {
    if !model.versionIdentifiers.isEmpty { values["version"] = .set(model.versionIdentifiers) }
    for (name, request) in model.fetchRequestTemplates { values["fetch_requests.\(name)"] = .fetch(request) }
    for (name, members) in model.configurations { values["configurations.\(name)"] = .set(members.sorted()) }
  }

  /// Adds the settings that differ from the defaults.
  private mutating func add<Owner: Described>(_ owner: Owner) {
    for aspect in Owner.aspects { values[aspect.key] = aspect.said(by: owner) }
  }

  /// The differences between two tables. Values are compared instead of their texts, because texts may lose
  /// information.
  ///
  /// The result is sorted by key. An equal setting is omitted; a setting in one table only has one
  /// value.
  func differences(to other: AspectTable) -> [AspectDifference] {
    Set(values.keys).union(other.values.keys).sorted().compactMap { key in
      let (old, new) = (values[key], other.values[key])
      if let old, let new, old.isSame(as: new) { return nil }
      return AspectDifference(aspect: key, old: old?.text(of: key), new: new?.text(of: key))
    }
  }
}

extension AspectValue {
  /// The value as a difference shows it, in Lua if Lua can express it.
  fileprivate func text(of key: String) -> String {
    if case .set(let names) = self { return names.joined(separator: ", ") }
    do {
      let tree = try tree()
      // Names are shown without quotation marks, except defaults, which may be empty strings.
      return (key == "default" ? nil : tree.string) ?? tree.luaText
    } catch {
      return plainText
    }
  }

  /// The text of a value that Lua cannot express.
  ///
  /// The value in Swift's description.
  private var plainText: String {
    switch self {
    case .value(let value): "\(value)"
    case .values(let values): "\(Value.list(values))"
    case .userInfo(let info): "\(Value.map(info))"
    case .attributes(let attributes): attributes.map { "\($0)" }.joined(separator: ", ")
    default: "\(self)"
    }
  }
}
