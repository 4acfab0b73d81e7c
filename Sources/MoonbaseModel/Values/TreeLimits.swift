/// How far trees that a program builds may go: walking them uses the stack, and a tree that holds one part twice at each level
/// has more parts than memory could.
package enum TreeLimits {
  /// Levels of lists and maps in each other, of tables of a model file and of composite attributes.
  package static let greatestDepth = 100
  /// Lists and maps of one value.
  package static let greatestCount = 1_000_000

  /// Whether a tree is deeper than allowed, or has more branches. Looks at it without recursion.
  ///
  /// `branches` gives the parts of a node that have parts themselves.
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
