extension FetchRequest {
  /// Whether sort keys order the rows of dictionary results instead of the objects behind them. A sort key of rows is a
  /// column with its own expression, or a function over the objects of a group, such as `@sum.age`.
  package var sortsRows: Bool {
    guard !propertiesToFetch.isEmpty || !propertiesToGroupBy.isEmpty else { return false }
    return sortDescriptors.contains { key in
      key.keyPath.hasPrefix("@")
        || propertiesToFetch.contains { $0.name == key.keyPath && $0.expression != .keyPath(key.keyPath) }
    }
  }

  /// The column whose values a sort key orders, which need not be shown.
  package func column(of key: SortDescriptor, shown: [FetchColumn]) -> FetchColumn {
    shown.first { $0.name == key.keyPath } ?? FetchColumn(key.keyPath)
  }

  /// Checks that rows can be sorted by a key.
  func check(rowKey key: SortDescriptor, of entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    if propertiesToFetch.contains(where: { $0.name == key.keyPath }) { return }
    if propertiesToGroupBy.contains(key.keyPath) { return }
    // A path that begins with a grouping key has the same value in the whole group.
    if propertiesToGroupBy.contains(where: { key.keyPath.hasPrefix($0 + ".") }) {
      return try key.check(against: entity, in: model)
    }
    if key.keyPath.hasPrefix("@") { return try check(FetchColumn(key.keyPath), of: entity, in: model) }
    guard propertiesToGroupBy.isEmpty else {
      throw ModelError(
        .predicateMismatch,
        message:
          "rows of groups are sorted by their columns, by what makes the groups, and by functions over the objects of one: "
          + "\(key.keyPath) is none of these",
        entity: entity.name, property: key.keyPath)
    }
    try key.check(against: entity, in: model)
  }
}
