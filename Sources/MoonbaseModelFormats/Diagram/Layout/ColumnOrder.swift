/// The order of boxes and passing lines in each column, chosen to minimise crossings.
///
/// This is the ordering step of a layered layout (Sugiyama): a line that passes a column gets a
/// vertex there, so each segment connects adjacent columns. `improve` sweeps with the average
/// positions of neighbours (barycentre), then exchanges neighbours. All steps are deterministic.
struct ColumnOrder {
  /// A segment of a line between adjacent columns.
  struct Segment {
    /// The vertex in the left column.
    var left: Int
    /// The vertex in the right column.
    var right: Int
    /// The rank of the end at the left vertex.
    var leftRank: Int
    /// The rank of the end at the right vertex.
    var rightRank: Int
    /// The index of the edge.
    var edge: Int
  }

  /// The number of vertices: the nodes, followed by a vertex for each column that a line passes.
  private(set) var vertexCount: Int
  /// The vertices of each column, from the top.
  private(set) var columns: [[Int]]
  /// The column of each vertex.
  private(set) var columnOf: [Int]
  /// The segments to the right of each column.
  private(set) var segments: [[Segment]]
  /// The vertices along each edge, from the left; empty for a loop.
  private(set) var chains: [[Int]]
  /// The position of each vertex in its column.
  private(set) var places: [Int]
  /// The segments that end at each vertex from the left.
  private var leftOf: [[Segment]]
  /// The segments that begin at each vertex to the right.
  private var rightOf: [[Segment]]
  /// The sides of boxes where inheritance ends at the foot.
  private(set) var lowered: Set<Side> = []

  /// A side of a box.
  struct Side: Hashable {
    /// The index of the node.
    var node: Int
    /// Whether it is the right side.
    var isRight: Bool
  }

  /// An order in which the nodes of a column are as in `order`, with passing vertices behind them.
  init(_ graph: LayoutGraph, _ layering: Layering, order: [Int]) {
    vertexCount = graph.nodes.count
    columnOf = layering.columns
    columns = [[Int]](repeating: [], count: layering.count)
    segments = [[Segment]](repeating: [], count: max(0, layering.count - 1))
    chains = []
    places = []
    (leftOf, rightOf) = ([], [])
    for node in order { columns[columnOf[node]].append(node) }
    for (number, edge) in graph.edges.enumerated() { chains.append(edge.isLoop ? [] : chain(edge, number)) }
    leftOf = [[Segment]](repeating: [], count: vertexCount)
    rightOf = leftOf
    for segment in segments.joined() {
      rightOf[segment.left].append(segment)
      leftOf[segment.right].append(segment)
    }
    places = [Int](repeating: 0, count: vertexCount)
    columns.indices.forEach { number($0) }
  }

  /// Adds the vertices and segments of an edge.
  private mutating func chain(_ edge: LayoutGraph.Edge, _ number: Int) -> [Int] {
    let isForward = columnOf[edge.from.node] < columnOf[edge.to.node]
    let (left, right) = isForward ? (edge.from, edge.to) : (edge.to, edge.from)
    var chain = [left.node]
    for column in (columnOf[left.node] + 1)..<columnOf[right.node] {
      chain.append(vertexCount)
      columnOf.append(column)
      columns[column].append(vertexCount)
      vertexCount += 1
    }
    chain.append(right.node)
    for index in chain.indices.dropLast() {
      segments[columnOf[chain[index]]].append(
        Segment(
          left: chain[index], right: chain[index + 1], leftRank: index == 0 ? left.rank : 0,
          rightRank: index == chain.count - 2 ? right.rank : 0, edge: number))
    }
    return chain
  }

  /// Updates the positions of a column's vertices.
  private mutating func number(_ column: Int) {
    for (place, vertex) in columns[column].enumerated() { places[vertex] = place }
  }

  /// The vertical order of a segment's left end: position, then rank.
  private func leftKey(_ segment: Segment) -> Int {
    places[segment.left] * LayoutGraph.rankCount + segment.leftRank
  }

  /// The vertical order of a segment's right end.
  private func rightKey(_ segment: Segment) -> Int {
    places[segment.right] * LayoutGraph.rankCount + segment.rightRank
  }

  // MARK: Crossings

  /// The number of crossings between all columns.
  var crossingCount: Int { segments.indices.reduce(0) { $0 + crossings(behind: $1) } }

  /// Counts the pairs of segments whose order differs between left and right.
  ///
  /// Inversions are counted with a Fenwick tree in O(n log n) for n segments.
  private func crossings(behind column: Int) -> Int {
    var keys = segments[column].map { (leftKey($0), rightKey($0)) }
    keys.sort { $0 < $1 }
    var counts = SumTree(columns[column + 1].count * LayoutGraph.rankCount)
    var found = 0
    for (index, key) in keys.enumerated() {
      found += index - counts.sum(through: key.1)
      counts.add(key.1)
    }
    return found
  }

  // MARK: Improving

  /// Sorts columns by the average position of their neighbours, in alternating directions, and keeps the best order.
  ///
  /// `rounds` is the number of sweeps. `exchanges` adds the slower exchange of neighbours after
  /// each sweep.
  mutating func improve(rounds: Int, exchanges: Bool) {
    var best = columns
    var least = crossingCount
    for round in 0..<rounds where least > 0 {
      sweep(isForward: round.isMultiple(of: 2))
      if exchanges { exchangeNeighbours() }
      let count = crossingCount
      if count < least { (best, least) = (columns, count) }
    }
    adopt(best)
  }

  /// Moves the ends of inheritance from the head of a box to its foot if that reduces crossings.
  ///
  /// Each side of a box is tried once.
  mutating func lowerInheritance(_ graph: LayoutGraph) {
    for node in graph.nodes.indices {
      for side in [Side(node: node, isRight: false), Side(node: node, isRight: true)] {
        // Only segments between two columns change.
        let column = side.isRight ? columnOf[node] : columnOf[node] - 1
        guard segments.indices.contains(column) else { continue }
        let before = crossings(behind: column)
        guard before > 0, lower(side, graph), crossings(behind: column) >= before else { continue }
        _ = lower(side, graph)
      }
    }
  }

  /// Moves the ends to the foot or back. Returns false if no inheritance ends on the side.
  private mutating func lower(_ side: Side, _ graph: LayoutGraph) -> Bool {
    let ends = (side.isRight ? rightOf : leftOf)[side.node].filter { graph.edges[$0.edge].isDirected }
    guard !ends.isEmpty else { return false }
    let rank = lowered.remove(side) == nil ? LayoutGraph.footRank : 0
    if rank > 0 { lowered.insert(side) }
    for end in ends {
      func set(_ segment: inout Segment) {
        guard segment.edge == end.edge, segment.left == end.left, segment.right == end.right else { return }
        if side.isRight { segment.leftRank = rank } else { segment.rightRank = rank }
      }
      let column = columnOf[end.left]
      for index in segments[column].indices { set(&segments[column][index]) }
      for index in rightOf[end.left].indices { set(&rightOf[end.left][index]) }
      for index in leftOf[end.right].indices { set(&leftOf[end.right][index]) }
    }
    return true
  }

  /// Sets another order of the columns.
  ///
  /// The order must contain the same vertices.
  mutating func adopt(_ order: [[Int]]) {
    columns = order
    columns.indices.forEach { number($0) }
  }

  /// Shuffles every column, deterministically by the seed.
  mutating func shuffle(seed: Int) {
    var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    for column in columns.indices {
      for place in columns[column].indices.dropFirst() {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        columns[column].swapAt(place, Int(state >> 33) % (place + 1))
      }
      number(column)
    }
  }

  /// Sorts each column once, from left to right or back.
  private mutating func sweep(isForward: Bool) {
    for column in isForward ? Array(columns.indices.dropFirst()) : columns.indices.dropLast().reversed() {
      let middles = columns[column].map { vertex in
        middle(of: isForward ? leftOf[vertex] : rightOf[vertex], isForward: isForward)
      }
      sort(column, by: middles)
    }
  }

  /// The average position of the other ends; nil without segments.
  private func middle(of segments: [Segment], isForward: Bool) -> Double? {
    if segments.isEmpty { return nil }
    let sum = segments.reduce(0) { $0 + (isForward ? leftKey($1) : rightKey($1)) }
    return Double(sum) / Double(segments.count)
  }

  /// Vertices without neighbours on that side keep their positions.
  private mutating func sort(_ column: Int, by middles: [Double?]) {
    let moved = columns[column].indices.filter { middles[$0] != nil }
    let sorted = moved.sorted { (middles[$0] ?? 0, $0) < (middles[$1] ?? 0, $1) }
    let old = columns[column]
    for (place, from) in zip(moved, sorted) { columns[column][place] = old[from] }
    number(column)
  }

  /// Exchanges adjacent vertices while that reduces crossings.
  private mutating func exchangeNeighbours() {
    var isBetter = true
    var rounds = 0
    while isBetter, rounds < 20 {
      (isBetter, rounds) = (false, rounds + 1)
      for column in columns.indices {
        for place in columns[column].indices.dropLast() where exchange(place, in: column) { isBetter = true }
      }
    }
  }

  /// Exchanges a vertex with the next one if that reduces crossings. Returns whether it did.
  private mutating func exchange(_ place: Int, in column: Int) -> Bool {
    let (upper, lower) = (columns[column][place], columns[column][place + 1])
    let now = crossings(of: upper, above: lower)
    guard now > 0, crossings(of: lower, above: upper) < now else { return false }
    columns[column].swapAt(place, place + 1)
    (places[upper], places[lower]) = (place + 1, place)
    return true
  }

  /// The crossings of the segments of two vertices, the first above the second.
  private func crossings(of upper: Int, above lower: Int) -> Int {
    let left = Self.inversions(leftOf[upper].map(leftKey), leftOf[lower].map(leftKey))
    return left + Self.inversions(rightOf[upper].map(rightKey), rightOf[lower].map(rightKey))
  }

  /// The number of pairs in which the upper end is below the lower one.
  private static func inversions(_ upper: [Int], _ lower: [Int]) -> Int {
    upper.reduce(0) { sum, key in sum + lower.count { $0 < key } }
  }
}

/// A Fenwick tree that counts the numbers up to a bound.
///
/// Adding and counting take logarithmic time.
private struct SumTree {
  /// The partial sums, from index 1.
  private var sums: [Int]

  /// A tree for numbers below `count`.
  init(_ count: Int) { sums = [Int](repeating: 0, count: count + 1) }

  /// Counts a number.
  mutating func add(_ number: Int) {
    var index = number + 1
    while index < sums.count {
      sums[index] += 1
      index += index & -index
    }
  }

  /// The count of numbers up to and including a bound.
  func sum(through number: Int) -> Int {
    var index = number + 1
    var sum = 0
    while index > 0 {
      sum += sums[index]
      index -= index & -index
    }
    return sum
  }
}
