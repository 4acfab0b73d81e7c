extension Predicate {
  /// The bytes that the predicate keeps, by estimate: what a script's memory limit counts.
  package var weight: Int {
    var total = 0
    var pending = [PredicateNode.predicate(self)]
    while let node = pending.popLast() {
      total += node.weight
      pending += node.parts
    }
    return total
  }
}

extension PredicateNode {
  /// What the node keeps beside its parts: a box for it, its names, its value.
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
  /// The bytes that the request keeps, by estimate.
  var weight: Int {
    var total = MemoryLayout<Self>.stride + relationshipKeyPathsForPrefetching.weight
    for predicate in [predicate, havingPredicate] { total += predicate?.weight ?? 0 }
    for key in sortDescriptors { total += 32 + key.keyPath.weight }
    return total
  }
}
