/// The vertical positions of boxes and passing lines, chosen to keep lines straight.
///
/// `init` does all the work: it packs the columns, sorts rows, and aligns columns in rounds.
/// Positions grow downwards, and the highest vertex is at 0.
struct ColumnPlacement {
  /// The least distance between boxes of a column.
  static let boxGap = 26.0
  /// The least distance between passing lines.
  private static let lineGap = 12.0
  /// The number of rounds of alignment.
  private static let rounds = 32

  /// The top of each vertex.
  private(set) var tops: [Double]
  /// The position of each row in its box, from the top.
  private(set) var rowPlaces: [[Int]]
  /// The graph of the part.
  private let graph: LayoutGraph
  /// The order of the columns.
  private let order: ColumnOrder
  /// The height of each vertex; 0 for a passing line.
  private let heights: [Double]
  /// Whether longer lines weigh less, in the later rounds.
  private var isStraightening = false

  /// Computes the positions.
  init(_ graph: LayoutGraph, _ order: ColumnOrder) {
    (self.graph, self.order) = (graph, order)
    heights = (0..<order.vertexCount).map { $0 < graph.nodes.count ? graph.nodes[$0].height : 0 }
    tops = [Double](repeating: 0, count: order.vertexCount)
    rowPlaces = graph.nodes.map { Array(0..<$0.rowCount) }
    pack()
    sortRows()
    align()
    sortRows()
    align()
    let top = tops.min() ?? 0
    for vertex in tops.indices { tops[vertex] -= top }
  }

  /// Packs each column densely and centres it.
  private mutating func pack() {
    for column in order.columns {
      let offsets = offsets(of: column)
      let height = (offsets.last ?? 0) + (column.last.map { heights[$0] } ?? 0)
      for (place, vertex) in column.enumerated() { tops[vertex] = offsets[place] - height / 2 }
    }
  }

  /// The offsets of a column's vertices from the first, at the minimum distances.
  private func offsets(of column: [Int]) -> [Double] {
    var offset = 0.0
    return column.indices.map { place in
      if place > 0 {
        let (upper, lower) = (column[place - 1], column[place])
        let isLine = isPassing(upper) && isPassing(lower)
        offset += heights[upper] + (isLine ? Self.lineGap : Self.boxGap)
      }
      return offset
    }
  }

  /// Whether a vertex is a passing line and no box.
  private func isPassing(_ vertex: Int) -> Bool { vertex >= graph.nodes.count }

  // MARK: Rows

  /// Sorts the rows of each box by the vertical positions of the other ends.
  private mutating func sortRows() {
    var keys = graph.nodes.map { node in (0..<node.rowCount).map { (Double.infinity, 0, 0, $0) } }
    for (number, edge) in graph.edges.enumerated() where !edge.isLoop {
      let chain = order.chains[number]
      let isForward = chain.first == edge.from.node
      for (end, other, isFirst) in [(edge.from, edge.to, isForward), (edge.to, edge.from, !isForward)] {
        guard let row = end.row else { continue }
        let next = isFirst ? chain[1] : chain[chain.count - 2]
        // Slightly below its neighbours in the column.
        keys[end.node][row] = (tops[next] + heights[next] / 2, isPassing(next) ? 0 : other.rank, number, row)
      }
    }
    for (number, edge) in graph.edges.enumerated() where edge.isLoop {
      // A loop to the head passes no other row; the remaining loops are placed together.
      let isToHead = edge.from.row == nil || edge.to.row == nil
      for row in [edge.from.row, edge.to.row].compactMap(\.self) {
        keys[edge.from.node][row] = (isToHead ? -.infinity : .infinity, 0, number, row)
      }
    }
    for node in graph.nodes.indices {
      let sorted = keys[node].indices.sorted { keys[node][$0] < keys[node][$1] }
      for (place, row) in sorted.enumerated() { rowPlaces[node][row] = place }
    }
  }

  /// The distance of a line's end from the top of its box.
  ///
  /// A row's line ends at the middle of the row. Inheritance ends near the head, or near the foot
  /// if the side was lowered.
  func offset(of end: LayoutGraph.End, isRight: Bool) -> Double {
    guard let row = end.row else {
      guard end.rank == 0 else { return BoxMeasure.headEnd }
      let isLow = order.lowered.contains(ColumnOrder.Side(node: end.node, isRight: isRight))
      return isLow ? graph.nodes[end.node].height - BoxMeasure.footEnd : BoxMeasure.inheritanceEnd
    }
    let place = Double(rowPlaces[end.node][row])
    return graph.nodes[end.node].firstRow + (place + 0.5) * BoxMeasure.rowHeight
  }

  // MARK: Heights

  /// A line that attracts two vertices to the same height.
  private struct Pull {
    /// The other vertex.
    var other: Int
    /// The wanted distance of the tops.
    var difference: Double
    /// The weight; long lines weigh more, so that they are straight.
    var weight: Double
  }

  /// The lines of each vertex to the left and to the right.
  private func pulls() -> (left: [[Pull]], right: [[Pull]]) {
    var left = [[Pull]](repeating: [], count: order.vertexCount)
    var right = left
    for (number, edge) in graph.edges.enumerated() where !edge.isLoop {
      let chain = order.chains[number]
      let isForward = chain.first == edge.from.node
      let (first, last) = isForward ? (edge.from, edge.to) : (edge.to, edge.from)
      for index in chain.indices.dropLast() {
        let here = index == 0 ? offset(of: first, isRight: true) : 0
        let there = index == chain.count - 2 ? offset(of: last, isRight: false) : 0
        let (one, other) = (chain[index], chain[index + 1])
        let weight = isPassing(one) && isPassing(other) ? 8.0 : isPassing(one) || isPassing(other) ? 2 : 1
        right[one].append(Pull(other: other, difference: there - here, weight: weight))
        left[other].append(Pull(other: one, difference: here - there, weight: weight))
      }
    }
    return (left, right)
  }

  /// Aligns each column with the previous one at first, and later with both. Finally longer lines weigh less, so that
  /// most lines are straight and few bend much.
  private mutating func align() {
    let (left, right) = pulls()
    for round in 0..<Self.rounds {
      let isBoth = round >= Self.rounds / 4
      isStraightening = round >= Self.rounds / 2
      for column in order.columns { align(column, by: left, and: isBoth ? right : nil) }
      for column in order.columns.reversed() { align(column, by: right, and: isBoth ? left : nil) }
    }
  }

  /// Moves a column as close to the wanted positions as its order and gaps allow.
  ///
  /// The wanted positions are weighted averages. Minimum distances make it a problem of isotonic
  /// regression.
  private mutating func align(_ column: [Int], by pulls: [[Pull]], and others: [[Pull]]?) {
    let offsets = offsets(of: column)
    var wanted: [Double] = []
    var weights: [Double] = []
    for (place, vertex) in column.enumerated() {
      var (weight, sum) = (0.0, 0.0)
      for pull in pulls[vertex] + (others?[vertex] ?? []) {
        let height = tops[pull.other] + pull.difference
        let strength = isStraightening ? pull.weight / (abs(height - tops[vertex]) + 3) : pull.weight
        weight += strength
        sum += strength * height
      }
      wanted.append((weight > 0 ? sum / weight : tops[vertex]) - offsets[place])
      weights.append(max(weight, 0.0001))
    }
    for (place, height) in Monotone.nearest(to: wanted, weights: weights).enumerated() {
      tops[column[place]] = height + offsets[place]
    }
  }
}

/// The nondecreasing numbers nearest to given numbers, by least squares (pool adjacent violators).
enum Monotone {
  /// Linear in the number of numbers. For example, `[3, 1, 2]` with equal weights gives `[2, 2,
  /// 2]`.
  static func nearest(to wanted: [Double], weights: [Double]) -> [Double] {
    var pools: [(mean: Double, weight: Double, count: Int)] = []
    for (number, weight) in zip(wanted, weights) {
      pools.append((number, weight, 1))
      while pools.count > 1, pools[pools.count - 2].mean > pools[pools.count - 1].mean {
        let last = pools.removeLast()
        let before = pools.removeLast()
        let sum = before.weight + last.weight
        let mean = (before.mean * before.weight + last.mean * last.weight) / sum
        pools.append((mean, sum, before.count + last.count))
      }
    }
    return pools.flatMap { [Double](repeating: $0.mean, count: $0.count) }
  }
}
