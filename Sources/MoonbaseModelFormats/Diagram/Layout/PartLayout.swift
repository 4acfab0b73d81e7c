import MoonbasePlatform

/// The layout of a connected component: the best of several assignments to columns.
///
/// The search is bounded: larger graphs get fewer tries, so that a diagram of any size takes
/// seconds at most. It uses no random numbers, so equal graphs give equal layouts.
struct PartLayout {
  /// The wanted ratio of width to height.
  private static let shape = 1.5
  /// With at most this number of segments, neighbours are exchanged.
  private static let exchangedSegments = 600
  /// The bounds of the columns' height, as factors of the ideal height.
  private static let bounds = [1.0, 1.6, 0.7]
  /// The budget of tries, divided by the size of the graph.
  private static let tries = 1200
  /// The number of assignments to refine in a small graph.
  private static let refined = 6
  /// The budget of shuffled beginnings, divided by the number of segments.
  private static let beginnings = 1500

  /// The graph.
  let graph: LayoutGraph
  /// The best order found.
  let order: ColumnOrder
  /// The positions for the order.
  let placement: ColumnPlacement
  /// The number of crossings.
  let crossingCount: Int

  /// Searches for the best layout.
  init(_ graph: LayoutGraph) {
    self.graph = graph
    let chosen = Self.best(graph)
    (order, crossingCount) = (chosen, chosen.crossingCount)
    placement = ColumnPlacement(graph, chosen)
  }

  /// Evaluates many assignments briefly, and the best of them thoroughly.
  private static func best(_ graph: LayoutGraph) -> ColumnOrder {
    let orders = NodeOrders(graph)
    var found: [(order: ColumnOrder, cost: Double)] = []
    for start in orders.byDegree.prefix(starts(for: graph)) {
      for nodes in orders.orders(from: start) {
        for bound in bounds {
          let layering = Layering(graph, order: nodes, neighbours: orders.neighbours, bound: bound * side(of: graph))
          var order = ColumnOrder(graph, layering, order: nodes)
          improve(&order)
          found.append((order, cost(of: order, graph)))
        }
      }
    }
    let promising = found.indices.sorted { (found[$0].cost, $0) < (found[$1].cost, $1) }
      .prefix(found.allSatisfy { isSmall($0.order) } ? refined : 2)
    let better = promising.map { place -> (order: ColumnOrder, cost: Double) in
      let order = refined(found[place].order, graph)
      return (order, cost(of: order, graph))
    }
    let best = better.indices.min { (better[$0].cost, $0) < (better[$1].cost, $1) }
    return best.map { better[$0].order } ?? ColumnOrder(graph, Layering(empty: graph), order: [])
  }

  /// The number of starting nodes, less for larger graphs.
  private static func starts(for graph: LayoutGraph) -> Int {
    max(1, min(graph.nodes.count, tries / (graph.nodes.count + graph.edges.count + 1)))
  }

  /// The height of columns in a picture of the wanted aspect ratio.
  private static func side(of graph: LayoutGraph) -> Double {
    let area = graph.nodes.reduce(0) { sum, node in
      sum + (node.height + ColumnPlacement.boxGap) * (node.width + DiagramLayout.leastChannel)
    }
    let highest = graph.nodes.map(\.height).max() ?? 0
    return max((area / shape).squareRoot(), highest + ColumnPlacement.boxGap)
  }

  /// Whether the order has few enough segments for exchanges.
  private static func isSmall(_ order: ColumnOrder) -> Bool {
    order.segments.reduce(0) { $0 + $1.count } <= exchangedSegments
  }

  /// Improves an order, with fewer rounds for a large one.
  private static func improve(_ order: inout ColumnOrder) {
    order.improve(rounds: isSmall(order) ? 12 : 8, exchanges: isSmall(order))
  }

  /// The best result of several refinements.
  ///
  /// Inheritance ends are lowered first, then shuffled orders are improved.
  private static func refined(_ order: ColumnOrder, _ graph: LayoutGraph) -> ColumnOrder {
    var best = order
    for _ in 0..<(isSmall(order) ? 2 : 1) where best.crossingCount > 0 {
      best.lowerInheritance(graph)
      improve(&best)
    }
    var least = best.crossingCount
    let pieces = order.segments.reduce(0) { $0 + $1.count }
    for seed in 1...max(1, min(12, beginnings / max(pieces, 1))) where least > 0 {
      var other = best
      other.shuffle(seed: seed)
      improve(&other)
      let count = other.crossingCount
      if count < least { (best, least) = (other, count) }
    }
    best.lowerInheritance(graph)
    return best
  }

  /// The cost of an order: crossings, deviation from the aspect ratio, and length of lines with a low weight.
  ///
  /// A crossing costs 1.
  private static func cost(of order: ColumnOrder, _ graph: LayoutGraph) -> Double {
    var height = 1.0
    var width = 0.0
    for column in order.columns {
      let nodes = column.filter { $0 < graph.nodes.count }.map { graph.nodes[$0] }
      width += (nodes.map(\.width).max() ?? 0) + DiagramLayout.leastChannel
      height = max(height, nodes.reduce(0) { $0 + $1.height + ColumnPlacement.boxGap })
    }
    let skew = abs(log(width / height / shape))
    let passing = Double(order.vertexCount - graph.nodes.count) / Double(max(1, graph.edges.count))
    return Double(order.crossingCount) + skew * 1.2 + passing * 0.8
  }
}
