extension FetchRequest: CustomStringConvertible {
  /// The entity, the predicate and the settings that differ from the defaults, under the keys of the Lua form: `Person
  /// where age > 30, sort = { "name", "-age" }, limit = 10`.
  public var description: String {
    let head = "\(entityName)\(predicate.map { " where \($0)" } ?? "")"
    return ([head] + traits.map { "\($0.key) = \($0.text)" }).joined(separator: ", ")
  }

  /// The settings that differ from the defaults, by their Lua keys.
  private var traits: [(key: String, text: String)] {
    let all: [(key: String, text: String?)] = [
      ("sort", Self.list(sortDescriptors.map(\.luaText))), ("limit", Self.number(fetchLimit)),
      ("offset", Self.number(fetchOffset)), ("batch", Self.number(fetchBatchSize)),
      ("subentities", includesSubentities ? nil : "false"),
      ("pending_changes", includesPendingChanges ? nil : "false"),
      ("property_values", includesPropertyValues ? nil : "false"), ("faults", returnsObjectsAsFaults ? nil : "false"),
      ("prefetch", Self.list(relationshipKeyPathsForPrefetching.map(\.luaText))),
      ("refresh", shouldRefreshRefetchedObjects ? "true" : nil),
      ("result", resultType == .objects ? nil : resultType.modelName.luaText),
      ("columns", Self.list(propertiesToFetch.map(\.luaText))),
      ("group_by", Self.list(propertiesToGroupBy.map(\.luaText))),
      ("having", havingPredicate.map { "\($0)".luaText }), ("distinct", returnsDistinctResults ? "true" : nil),
    ]
    return all.compactMap { key, text in text.map { (key, $0) } }
  }

  /// A number as text; nil for 0.
  private static func number(_ number: Int) -> String? { number == 0 ? nil : "\(number)" }

  /// A Lua list; nil without elements.
  private static func list(_ texts: [String]) -> String? {
    texts.isEmpty ? nil : "{ \(texts.joined(separator: ", ")) }"
  }
}

extension SortDescriptor {
  /// The sort key as a Lua literal.
  fileprivate var luaText: String {
    let key = "\(ascending ? "" : "-")\(keyPath)".luaText
    return comparator == .compare ? key : "{ \(key), compare = \(comparator.rawValue.luaText) }"
  }
}

extension FetchColumn {
  /// The column as a Lua literal.
  fileprivate var luaText: String {
    if self == FetchColumn(name) { return name.luaText }
    let type = resultType.map { ", type = \($0.modelName.luaText)" } ?? ""
    return "{ \(name.luaText), \("\(expression)".luaText)\(type) }"
  }
}

extension SortDescriptor: CustomStringConvertible {
  /// `name` or `-name`, with the comparator if it is not the default.
  public var description: String {
    "\(ascending ? "" : "-")\(keyPath)\(comparator == .compare ? "" : " by \(comparator.rawValue)")"
  }
}

extension FetchColumn: CustomStringConvertible {
  /// The key path, or the name and the expression: `total = items.@sum.price`.
  public var description: String {
    self == FetchColumn(name) ? name : "\(name) = \(expression)\(resultType.map { " (\($0.modelName))" } ?? "")"
  }
}
