import MoonbaseModel

/// Writes the Lua form of a model as a tree, the inverse of `ModelTreeReader`.
struct ModelTreeWriter {
  private let list: [ModelTree]
  private var entries: [ModelTree.Entry] = []

  private init(_ list: [ModelTree] = []) { self.list = list }

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

  private static func tree(_ entity: EntityDescription) throws(ModelError) -> ModelTree {
    var writer = Self()
    try writer.add(whatIsSaidBy: entity)
    return writer.tree
  }

  static func tree(_ attribute: AttributeDescription) throws(ModelError) -> ModelTree {
    do {
      var writer = Self([.value(.string(attribute.type.modelName))])
      try writer.add(whatIsSaidBy: attribute, except: "type")
      return writer.shortTree
    } catch {
      throw ModelError(error.code, message: "attribute \(attribute.name): \(error.message)", property: attribute.name)
    }
  }

  static func tree(_ relationship: RelationshipDescription) throws(ModelError) -> ModelTree {
    var writer = Self()
    try writer.add(whatIsSaidBy: relationship)
    return writer.tree
  }

  static func tree(_ property: FetchedPropertyDescription) throws(ModelError) -> ModelTree {
    var writer = try fetch(property.fetchRequest)
    try writer.add(whatIsSaidBy: property)
    return writer.tree
  }

  static func tree(_ request: FetchRequest) throws(ModelError) -> ModelTree { try fetch(request).tree }

  private static func fetch(_ request: FetchRequest) throws(ModelError) -> Self {
    let predicate = request.predicate.map { ModelTree.value(.string("\($0)")) }
    var writer = Self([.value(.string(request.entityName))] + (predicate.map { [$0] } ?? []))
    try writer.add(whatIsSaidBy: request, except: "entity", "predicate")
    return writer
  }

  // MARK: Their parts

  static func tree(_ column: FetchColumn) -> ModelTree {
    if column == FetchColumn(column.name) { return .value(.string(column.name)) }
    var writer = Self([.value(.string(column.name)), .value(.string("\(column.expression)"))])
    if let type = column.resultType { writer.add("type", tree: .value(.string(type.modelName))) }
    return writer.tree
  }

  static func tree(_ descriptor: SortDescriptor) -> ModelTree {
    let key = ModelTree.value(.string((descriptor.ascending ? "" : "-") + descriptor.keyPath))
    if descriptor.comparator == .compare { return key }
    return .table([key], entries: [.init("compare", tree: .value(.string(descriptor.comparator.rawValue)))])
  }

  static func tree(_ index: FetchIndexDescription) -> ModelTree {
    var writer = Self(index.elements.map(tree))
    if let predicate = index.partialIndexPredicate { writer.add("where", tree: .value(.string(predicate))) }
    return writer.tree
  }

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

  private var tree: ModelTree { .table(list, entries: entries) }

  /// A single unnamed value without its table, or the table.
  private var shortTree: ModelTree { list.count == 1 && entries.isEmpty ? list[0] : tree }

  private mutating func add(_ key: String, tree: ModelTree) { entries.append(.init(key, tree: tree)) }

  /// Adds the settings of a description that differ from the defaults, except those in the list part.
  private mutating func add<Owner: Described>(whatIsSaidBy owner: Owner, except unnamed: String...) throws(ModelError) {
    for aspect in Owner.aspects where !unnamed.contains(aspect.key) {
      if let said = aspect.said(by: owner) { add(aspect.key, tree: try said.tree()) }
    }
  }
}
