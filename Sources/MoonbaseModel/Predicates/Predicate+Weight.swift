extension Predicate {
  /// The estimated bytes of the predicate, for a script's memory limit.
  package var weight: Int {
    PredicateNode.predicate(self).totalWeight
  }
}

extension FetchColumn {
  /// The estimated bytes of the column.
  package var weight: Int { 96 + name.weight + PredicateNode.expression(expression).totalWeight }
}

extension PredicateNode {
  /// The estimated bytes of the tree.
  fileprivate var totalWeight: Int {
    var total = 0
    var pending = [self]
    while let node = pending.popLast() {
      total += node.weight
      pending += node.parts
    }
    return total
  }

  /// The estimated bytes of the node without its parts.
  fileprivate var weight: Int {
    switch self {
    case .predicate: 160
    case .expression(.constant(let value)): 64 + value.weight
    case .expression(.keyPath(_, let names)): names.reduce(128) { $0 + 16 + $1.utf8.count }
    case .expression: 96
    }
  }
}

extension FetchRequest {
  /// The estimated bytes of the request.
  var weight: Int {
    var total = MemoryLayout<Self>.stride + relationshipKeyPathsForPrefetching.weight
    for predicate in [predicate, havingPredicate] { total += predicate?.weight ?? 0 }
    for key in sortDescriptors { total += 32 + key.keyPath.weight }
    return total
  }
}
