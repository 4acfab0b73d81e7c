/// Limits for trees that a program builds. Walking them uses the stack, and a tree that contains a part twice at each
/// level can have more nodes than fit in memory.
package enum TreeLimits {
  /// The deepest nesting of lists and maps, of tables in a model file and of composite attributes.
  package static let greatestDepth = 100
  /// The most lists and maps of a value.
  package static let greatestCount = 1_000_000

  /// Whether a tree exceeds the depth or has too many branches. Works without recursion.
  ///
  /// `branches` returns the parts of a node that have parts themselves.
  package static func areExceeded<Node>(
    by root: Node, depth: Int = greatestDepth, _ branches: (Node) -> [Node]
  ) -> Bool {
    var pending = [(node: root, depth: 1)]
    var count = 0
    while let (node, level) = pending.popLast() {
      count += 1
      if level > depth || count > greatestCount { return true }
      for branch in branches(node) { pending.append((branch, level + 1)) }
    }
    return false
  }
}
