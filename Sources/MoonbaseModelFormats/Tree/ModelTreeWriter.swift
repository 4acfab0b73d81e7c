import MoonbaseModel

/// Writes the Lua form of a model as a tree, the inverse of `ModelTreeReader`.
///
/// A writer is the table of one description: a list part and named entries. The static functions
/// make a writer for each kind of description and return its tree.
struct ModelTreeWriter {
  /// The list part of the table.
  private let list: [ModelTree]
  /// The named entries, in order.
  private var entries: [ModelTree.Entry] = []

  /// A table with a list part.
  private init(_ list: [ModelTree] = []) { self.list = list }

  /// Writes a model. Fetch requests and configurations are sorted by name.
  ///
  /// Throws `.unsupportedForm` for a value without a Lua form.
  static func write(_ model: ManagedObjectModel) throws(ModelError) -> ModelTree {
    var writer = Self()
    switch model.versionIdentifiers.count {
    case 0: break
    case 1: writer.add("version", tree: .value(.string(model.versionIdentifiers[0])))
    default: writer.add("version", tree: ModelTree(names: model.versionIdentifiers))
    }
    if model.allowsUnknownClasses, !isSoundByItself(model) { writer.add("imported", tree: true) }
    var entities: [ModelTree.Entry] = []
    for entity in model.entities { entities.append(.init(entity.name, tree: try tree(entity))) }
    writer.add("entities", tree: .table([], entries: entities))
    var requests: [ModelTree.Entry] = []
    for (name, request) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
      requests.append(.init(name, tree: try tree(request)))
    }
    if !requests.isEmpty { writer.add("fetch_requests", tree: .table([], entries: requests)) }
    let configurations = model.configurations.sorted { $0.key < $1.key }
    if !configurations.isEmpty {
      writer.add(
        "configurations",
        tree: .table([], entries: configurations.map { .init($0.key, tree: ModelTree(names: $0.value)) }))
    }
    return writer.tree
  }

  /// Whether the model is valid without the allowances for Xcode's files.
  private static func isSoundByItself(_ model: ManagedObjectModel) -> Bool {
    var model = model
    model.allowsUnknownClasses = false
    return (try? model.resolved()) != nil
  }

  // MARK: Descriptions

  /// The table of an entity with its properties.
  private static func tree(_ entity: EntityDescription) throws(ModelError) -> ModelTree {
    var writer = Self()
    try writer.add(whatIsSaidBy: entity)
    return writer.tree
  }

  /// The table of an attribute, or only its type if all settings are defaults. Errors name the
  /// attribute.
  static func tree(_ attribute: AttributeDescription) throws(ModelError) -> ModelTree {
    do {
      var writer = Self([.value(.string(attribute.type.modelName))])
      try writer.add(whatIsSaidBy: attribute, except: "type")
      return writer.shortTree
    } catch {
      throw ModelError(error.code, message: "attribute \(attribute.name): \(error.message)", property: attribute.name)
    }
  }

  /// The table of a relationship.
  static func tree(_ relationship: RelationshipDescription) throws(ModelError) -> ModelTree {
    var writer = Self()
    try writer.add(whatIsSaidBy: relationship)
    return writer.tree
  }

  /// The table of a fetched property: its fetch request with its own settings.
  static func tree(_ property: FetchedPropertyDescription) throws(ModelError) -> ModelTree {
    var writer = try fetch(property.fetchRequest)
    try writer.add(whatIsSaidBy: property)
    return writer.tree
  }

  /// The table of a fetch request.
  static func tree(_ request: FetchRequest) throws(ModelError) -> ModelTree { try fetch(request).tree }

  /// The table of a fetch request, for further entries.
  private static func fetch(_ request: FetchRequest) throws(ModelError) -> Self {
    let predicate = request.predicate.map { ModelTree.value(.string("\($0)")) }
    var writer = Self([.value(.string(request.entityName))] + (predicate.map { [$0] } ?? []))
    try writer.add(whatIsSaidBy: request, except: "entity", "predicate")
    return writer
  }

  // MARK: Their parts

  /// The node of a column.
  static func tree(_ column: FetchColumn) -> ModelTree {
    if column == FetchColumn(column.name) { return .value(.string(column.name)) }
    var writer = Self([.value(.string(column.name)), .value(.string("\(column.expression)"))])
    if let type = column.resultType { writer.add("type", tree: .value(.string(type.modelName))) }
    return writer.tree
  }

  /// The node of a sort key, with a minus for descending order.
  static func tree(_ descriptor: SortDescriptor) -> ModelTree {
    let key = ModelTree.value(.string((descriptor.ascending ? "" : "-") + descriptor.keyPath))
    if descriptor.comparator == .compare { return key }
    return .table([key], entries: [.init("compare", tree: .value(.string(descriptor.comparator.rawValue)))])
  }

  /// The table of an index.
  static func tree(_ index: FetchIndexDescription) -> ModelTree {
    var writer = Self(index.elements.map(tree))
    if let predicate = index.partialIndexPredicate { writer.add("where", tree: .value(.string(predicate))) }
    return writer.tree
  }

  /// The node of an index element.
  private static func tree(_ element: FetchIndexDescription.Element) -> ModelTree {
    let sign = element.isAscending || element.isExpression ? "" : "-"
    var writer = Self([.value(.string(sign + element.property))])
    if element.kind == .rTree { writer.add("kind", tree: "rtree") }
    if element.isExpression { writer.add("expression", tree: true) }
    if element.isExpression, !element.isAscending { writer.add("descending", tree: true) }
    if let type = element.expressionType { writer.add("expression_type", tree: .value(.string(type))) }
    return writer.shortTree
  }

  // MARK: Tables

  /// The table as a node.
  private var tree: ModelTree { .table(list, entries: entries) }

  /// A single unnamed value without its table, or the table.
  private var shortTree: ModelTree { list.count == 1 && entries.isEmpty ? list[0] : tree }

  /// Adds a named entry.
  private mutating func add(_ key: String, tree: ModelTree) { entries.append(.init(key, tree: tree)) }

  /// Adds the settings of a description that differ from the defaults, except those in the list part.
  private mutating func add<Owner: Described>(whatIsSaidBy owner: Owner, except unnamed: String...) throws(ModelError) {
    for aspect in Owner.aspects where !unnamed.contains(aspect.key) {
      if let said = aspect.said(by: owner) { add(aspect.key, tree: try said.tree()) }
    }
  }
}
