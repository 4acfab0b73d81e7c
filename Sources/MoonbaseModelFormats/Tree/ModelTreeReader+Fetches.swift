import MoonbaseModel

extension ModelTreeReader {
  /// Parses a predicate. Its error gets the line.
  func predicate(_ text: String, in context: ReadingContext, line: Int?) throws(ModelError) -> Predicate {
    do { return try Predicate(format: text) } catch { throw context.error(error.message, line: line) }
  }

  /// Reads a fetched property: a fetch request with further settings.
  func fetchedProperty(_ name: String, from tree: ModelTree, in context: ReadingContext) throws(ModelError)
    -> FetchedPropertyDescription
  {
    var table = try TreeFields(tree, context: context)
    var property = FetchedPropertyDescription(name, fetchRequest: try fetchRequest(&table))
    property.location = context.location(tree.line)
    try table.read(into: &property)
    property.userInfo = try table.userInfo()
    try table.finish(listCount: 2)
    return property
  }

  /// Reads `{ "Entity", "predicate", sort = { "name", "-age" }, limit = 10, ... }`.
  ///
  /// The predicate may be missing. Throws `.invalidModel` with the line.
  func fetchRequest(_ tree: ModelTree, in context: ReadingContext) throws(ModelError) -> FetchRequest {
    var table = try TreeFields(tree, context: context)
    let request = try fetchRequest(&table)
    try table.finish(listCount: 2)
    return request
  }

  /// Reads a fetch request from a table that may have further keys.
  private func fetchRequest(_ table: inout TreeFields) throws(ModelError) -> FetchRequest {
    guard let entity = table.list.first else {
      throw table.context.error("the entity comes first, for example { \"Person\", \"age > 30\" }", line: table.line)
    }
    var request = FetchRequest(try table.string(entity, what: "the entity"))
    if table.list.count > 1 {
      let tree = table.list[1]
      let text = try table.string(tree, what: "the predicate")
      request.predicate = try predicate(text, in: table.context, line: tree.line ?? table.line)
    }
    request.sortDescriptors = try sort(&table)
    try table.read(into: &request)
    request.relationshipKeyPathsForPrefetching = try table.strings("prefetch") ?? []
    try readResult(&table, into: &request)
    return request
  }

  /// Reads the keys of the result: `result`, `columns`, `group_by` and `having`.
  private func readResult(_ table: inout TreeFields, into request: inout FetchRequest) throws(ModelError) {
    request.resultType = try table.choice("result", of: FetchRequest.ResultType.allCases, word: \.modelName) ?? .objects
    if let tree = table.read("columns") {
      let columns = try TreeFields(tree, context: table.context.part("columns"))
      try columns.finish(listCount: .max)
      for element in columns.list { request.propertiesToFetch.append(try column(element, in: columns.context)) }
    }
    request.propertiesToGroupBy = try table.strings("group_by") ?? []
    if let tree = table.read("having") {
      let text = try table.string(tree, what: "having")
      request.havingPredicate = try predicate(text, in: table.context, line: tree.line ?? table.line)
    }
  }

  /// Reads `"name"`, or `{ "total", "items.@sum.price", type = "double" }`.
  ///
  /// The first form fetches a key path under its own name.
  private func column(_ tree: ModelTree, in context: ReadingContext) throws(ModelError) -> FetchColumn {
    if let text = tree.string { return FetchColumn(text) }
    var table = try TreeFields(tree, context: context)
    guard table.list.count == 2 else {
      throw context.error("a column is a key path, or { \"name\", \"expression\" }", line: tree.line)
    }
    let name = try table.string(table.list[0], what: "the name")
    let text = try table.string(table.list[1], what: "the expression")
    var column = FetchColumn(name)
    do { column.expression = try Expression(format: text) } catch {
      throw context.error(error.message, line: table.list[1].line ?? tree.line)
    }
    if let type = try table.text("type") {
      guard let resultType = AttributeType(modelName: type) else {
        throw context.error("there is no type \(type)", line: tree.line)
      }
      column.resultType = resultType
    }
    try table.finish(listCount: 2)
    return column
  }

  /// Reads sort keys, each `"name"`, `"-name"`, or `{ "name", compare = "localizedStandardCompare" }`.
  ///
  /// A single text is accepted as well. A minus means descending order.
  private func sort(_ table: inout TreeFields) throws(ModelError) -> [SortDescriptor] {
    guard let tree = table.read("sort") else { return [] }
    if let text = tree.string { return [SortDescriptor(text: text)] }
    let context = table.context.part("sort")
    let keys = try TreeFields(tree, context: context)
    try keys.finish(listCount: .max)
    var result: [SortDescriptor] = []
    for key in keys.list {
      if let text = key.string {
        result.append(SortDescriptor(text: text))
        continue
      }
      var element = try TreeFields(key, context: context)
      guard let first = element.list.first else { throw context.error("the key comes first", line: key.line) }
      var descriptor = SortDescriptor(text: try element.string(first, what: "the key"))
      if let name = try element.text("compare") {
        guard let comparator = SortDescriptor.Comparator(rawValue: name) else {
          throw context.error("there is no comparator \(name)", line: key.line)
        }
        descriptor.comparator = comparator
      }
      try element.finish(listCount: 1)
      result.append(descriptor)
    }
    return result
  }

  /// Reads `{ byName = { "lastName", "-age" } }`, or `{ { "lastName" } }`, with a name made of the properties.
  ///
  /// An index without a name is named after its properties, joined by underscores.
  func indexes(_ tree: ModelTree, in context: ReadingContext) throws(ModelError) -> [FetchIndexDescription] {
    guard case .table(let list, let entries) = tree.content else {
      throw context.error("expected a table, not \(tree.kind)", line: tree.line)
    }
    var result: [FetchIndexDescription] = []
    for tree in list {
      var index = try index("", from: tree, in: context)
      index.name = index.elements.map(\.property).joined(separator: "_")
      result.append(index)
    }
    for entry in entries.inLineOrder {
      result.append(try index(entry.key, from: entry.tree, in: context.part(entry.key)))
    }
    return result
  }

  /// Reads an index: a property, or a list of elements with an optional `where`.
  private func index(_ name: String, from tree: ModelTree, in context: ReadingContext) throws(ModelError)
    -> FetchIndexDescription
  {
    if tree.string != nil { return try index(name, from: .table([tree], line: tree.line), in: context) }
    var table = try TreeFields(tree, context: context)
    var elements: [FetchIndexDescription.Element] = []
    for element in table.list { elements.append(try indexElement(element, in: context)) }
    if elements.isEmpty { throw context.error("an index needs at least one property", line: tree.line) }
    var index = FetchIndexDescription(name, elements: elements)
    index.location = context.location(tree.line)
    index.partialIndexPredicate = try table.text("where")
    try table.finish(listCount: .max)
    return index
  }

  /// Reads an element: `"name"`, `"-name"`, or a table with `kind`, `expression` and `descending`.
  private func indexElement(_ tree: ModelTree, in context: ReadingContext) throws(ModelError)
    -> FetchIndexDescription.Element
  {
    if let text = tree.string { return Self.indexElement(text) }
    var table = try TreeFields(tree, context: context)
    guard let first = table.list.first else { throw context.error("the property comes first", line: tree.line) }
    let text = try table.string(first, what: "the property")
    let isExpression = try table.flag("expression") ?? false
    // A minus is part of an expression.
    var element = isExpression ? FetchIndexDescription.Element(text) : Self.indexElement(text)
    element.isExpression = isExpression
    element.expressionType = try table.text("expression_type")
    if let isDescending = try table.flag("descending") { element.isAscending = !isDescending }
    if let kind = try table.text("kind") {
      guard kind == "binary" || kind == "rtree" else {
        throw context.error("kind is binary or rtree, not \(kind)", line: tree.line)
      }
      element.kind = kind == "rtree" ? .rTree : .binary
    }
    try table.finish(listCount: 1)
    return element
  }

  /// The element of a text, in which a minus means descending order.
  private static func indexElement(_ text: String) -> FetchIndexDescription.Element {
    var element = FetchIndexDescription.Element(text.hasPrefix("-") ? String(text.dropFirst()) : text)
    element.isAscending = !text.hasPrefix("-")
    return element
  }
}
