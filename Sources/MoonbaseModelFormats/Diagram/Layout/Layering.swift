/// The assignment of boxes to columns. A line connects a column with a later one.
///
/// This is the first step of a layered layout: `ColumnOrder` then orders the boxes of each column.
/// The value holds one column number for each node.
struct Layering {
  /// The column of each node.
  var columns: [Int]

  /// An assignment without nodes.
  init(empty graph: LayoutGraph) { columns = [Int](repeating: 0, count: graph.nodes.count) }

  /// The number of columns.
  var count: Int { (columns.max() ?? -1) + 1 }

  /// Assigns nodes in order, each to the first column after those of its earlier neighbours that has room. The height
  /// of a column is limited, except for a single higher box.
  ///
  /// - Parameters:
  ///   - graph: The boxes and lines.
  ///   - order: The nodes in the order of assignment.
  ///   - neighbours: The neighbours of each node.
  ///   - bound: The height that a column should not exceed.
  init(_ graph: LayoutGraph, order: [Int], neighbours: [[Int]], bound: Double) {
    columns = [Int](repeating: -1, count: graph.nodes.count)
    var heights: [Double] = []
    for node in order {
      let before = neighbours[node].map { columns[$0] }
      var column = (before.max() ?? -1) + 1
      let height = graph.nodes[node].height + ColumnPlacement.boxGap
      while column < heights.count, heights[column] > 0, heights[column] + height > bound { column += 1 }
      while heights.count <= column { heights.append(0) }
      heights[column] += height
      columns[node] = column
    }
    tighten(graph, order: order, neighbours: neighbours, heights: &heights, bound: bound)
  }

  /// Moves nodes with more neighbours on the right as far to the right as possible, in reverse order.
  private mutating func tighten(
    _ graph: LayoutGraph, order: [Int], neighbours: [[Int]], heights: inout [Double], bound: Double
  ) {
    for node in order.reversed() {
      let right = neighbours[node].filter { columns[$0] > columns[node] }
      guard right.count * 2 > neighbours[node].count, let nearest = right.map({ columns[$0] }).min() else { continue }
      let height = graph.nodes[node].height + ColumnPlacement.boxGap
      var column = nearest - 1
      while column > columns[node], heights[column] > 0, heights[column] + height > bound { column -= 1 }
      guard column > columns[node] else { continue }
      heights[columns[node]] -= height
      heights[column] += height
      columns[node] = column
    }
  }
}

/// Orders for assigning nodes to columns. A parent always precedes its children.
///
/// `PartLayout` tries layerings of many orders and keeps the best.
struct NodeOrders {
  /// The neighbours of each node, sorted.
  let neighbours: [[Int]]
  /// The parents of each node by inheritance.
  private let parents: [[Int]]
  /// The graph.
  private let graph: LayoutGraph

  /// The orders of a graph.
  init(_ graph: LayoutGraph) {
    self.graph = graph
    var parents = [[Int]](repeating: [], count: graph.nodes.count)
    for edge in graph.edges where !edge.isLoop && edge.isDirected { parents[edge.to.node].append(edge.from.node) }
    (neighbours, self.parents) = (graph.neighbours, parents)
  }

  /// Orders that start at a node and proceed to the right. If parts are connected only by this node, also orders with
  /// about half of the parts on its left.
  ///
  /// Each order contains every node once. The first is by distance from the start.
  func orders(from start: Int) -> [[Int]] {
    var isSeen = [Bool](repeating: false, count: graph.nodes.count)
    let all = LayoutGraph.reached(from: start, over: neighbours, seen: &isSeen)
    let branches = self.branches(of: start)
    var (left, right): ([[Int]], [[Int]]) = ([], [])
    var heights = (left: 0.0, right: 0.0)
    for branch in branches {
      let height = branch.reduce(0) { $0 + graph.nodes[$1].height }
      let hasChild = branch.contains { parents[$0].contains(start) }
      if hasChild || heights.right <= heights.left {
        right.append(branch)
        heights.right += height
      } else {
        left.append(branch)
        heights.left += height
      }
    }
    let onBothSides = left.joined().reversed() + [start] + right.joined()
    return [parentsFirst(all)] + (left.isEmpty ? [] : [parentsFirst(Array(onBothSides))])
  }

  /// The parts that remain without a node, the highest first.
  private func branches(of start: Int) -> [[Int]] {
    var isSeen = [Bool](repeating: false, count: graph.nodes.count)
    isSeen[start] = true
    var branches: [(nodes: [Int], height: Double)] = []
    for neighbour in neighbours[start] where !isSeen[neighbour] {
      let nodes = LayoutGraph.reached(from: neighbour, over: neighbours, seen: &isSeen)
      branches.append((nodes, nodes.reduce(0) { $0 + graph.nodes[$1].height }))
    }
    let sorted = branches.indices.sorted { (branches[$1].height, $0) < (branches[$0].height, $1) }
    return sorted.map { branches[$0].nodes }
  }

  /// The nodes by number of neighbours, the greatest first.
  var byDegree: [Int] {
    graph.nodes.indices.sorted { (neighbours[$1].count, $0) < (neighbours[$0].count, $1) }
  }

  /// The order in which ancestors are moved before each node.
  private func parentsFirst(_ order: [Int]) -> [Int] {
    var isPlaced = [Bool](repeating: false, count: graph.nodes.count)
    var result: [Int] = []
    for node in order where !isPlaced[node] {
      // A chain of ancestors has no cycle, because the model is checked.
      var chain: [Int] = []
      var ahead = [node]
      while let next = ahead.popLast() {
        guard !isPlaced[next] else { continue }
        isPlaced[next] = true
        chain.append(next)
        ahead += parents[next].filter { !isPlaced[$0] }
      }
      result += chain.reversed()
    }
    return result
  }
}
