extension FetchRequest: CustomStringConvertible {
  /// The entity, the predicate and whatever is not as usual, by the keys of the Lua form:
  /// `Person where age > 30, sort = { "name", "-age" }, limit = 10`.
  public var description: String {
    let head = "\(entityName)\(predicate.map { " where \($0)" } ?? "")"
    guard case .table(_, let entries) = ModelTreeWriter.fetch(self).tree.content else { return head }
    return ([head] + entries.map { "\($0.key) = \($0.tree.luaText)" }).joined(separator: ", ")
  }
}

extension SortDescriptor: CustomStringConvertible {
  /// `name` or `-name`, with the comparator where it is not the usual one.
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
