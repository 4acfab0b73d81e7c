/// A diagram for layout: boxes with their sizes, and lines with their ends.
///
/// The graph is independent of texts and styles. Node `n` is box `n`, and edge `n` is line `n` of
/// the diagram.
struct LayoutGraph {
  /// A box. Lines end at its head, or at a row, whose order the layout chooses.
  struct Node {
    /// The width of the box.
    var width: Double
    /// The height of the box.
    var height: Double
    /// The position of the first row, and the number of rows.
    var firstRow: Double
    /// The number of rows at which lines may end.
    var rowCount: Int
  }

  /// The end of an edge.
  struct End {
    /// The index of the node.
    var node: Int
    /// The index of the row before sorting; nil for the head.
    var row: Int?
    /// The vertical order of ends on a side: lower ranks end higher. Rows have the greatest rank, in any order among
    /// themselves.
    var rank: Int
  }

  /// A line between two boxes.
  struct Edge {
    /// The end that the model names first.
    var from: End
    /// The other end.
    var to: End
    /// Whether the line must lead from left to right.
    var isDirected: Bool

    /// Whether both ends are at the same box.
    var isLoop: Bool { from.node == to.node }
  }

  /// The number of ranks: inheritance, head, rows, foot.
  static let rankCount = 4
  /// The rank of the foot, below all rows.
  static let footRank = 3

  /// The boxes.
  var nodes: [Node]
  /// The lines.
  var edges: [Edge]

  /// The graph of a diagram.
  init(_ content: DiagramContent) {
    nodes = content.boxes.map { BoxMeasure($0).node }
    edges = content.lines.map { line in
      func end(_ end: DiagramContent.End) -> End {
        End(node: end.box, row: end.row, rank: end.row != nil ? 2 : line.isInheritance ? 0 : 1)
      }
      return Edge(from: end(line.from), to: end(line.to), isDirected: line.isInheritance)
    }
  }

  /// The neighbours of each node, in the order of its edges.
  var neighbours: [[Int]] {
    var neighbours = [[Int]](repeating: [], count: nodes.count)
    for edge in edges where !edge.isLoop {
      neighbours[edge.from.node].append(edge.to.node)
      neighbours[edge.to.node].append(edge.from.node)
    }
    return neighbours.map { Array(Set($0)).sorted() }
  }

  /// The nodes connected with a node, nearest first, without nodes seen before.
  ///
  /// A breadth-first search, which marks the nodes that it reaches.
  static func reached(from start: Int, over neighbours: [[Int]], seen isSeen: inout [Bool]) -> [Int] {
    isSeen[start] = true
    var found = [start]
    var next = 0
    while next < found.count {
      for other in neighbours[found[next]] where !isSeen[other] {
        isSeen[other] = true
        found.append(other)
      }
      next += 1
    }
    return found
  }

  /// The connected components, each in the order of its nodes, sorted by their first nodes.
  func components() -> [[Int]] {
    let neighbours = neighbours
    var isSeen = [Bool](repeating: false, count: nodes.count)
    return nodes.indices.compactMap { start in
      isSeen[start] ? nil : Self.reached(from: start, over: neighbours, seen: &isSeen).sorted()
    }
  }

  /// A subgraph of these nodes, renumbered, with the numbers of its edges here.
  ///
  /// `members` must be a whole component, so that no edge leaves it.
  func part(_ members: [Int]) -> (graph: LayoutGraph, edges: [Int]) {
    let places = Dictionary(members.enumerated().map { ($1, $0) }) { first, _ in first }
    var part = self
    part.nodes = members.map { nodes[$0] }
    let numbers = edges.indices.filter { places[edges[$0].from.node] != nil }
    part.edges = numbers.map { number in
      var edge = edges[number]
      edge.from.node = places[edge.from.node] ?? 0
      edge.to.node = places[edge.to.node] ?? 0
      return edge
    }
    return (part, numbers)
  }
}
