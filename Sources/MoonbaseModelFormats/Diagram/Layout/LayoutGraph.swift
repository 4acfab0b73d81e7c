/// A diagram for layout: boxes with their sizes, and lines with their ends.
struct LayoutGraph {
  /// A box. Lines end at its head, or at a row, whose order the layout chooses.
  struct Node {
    var width: Double
    var height: Double
    /// The position of the first row, and the number of rows.
    var firstRow: Double
    var rowCount: Int
  }

  struct End {
    var node: Int
    var row: Int?
    /// The vertical order of ends on a side: lower ranks end higher. Rows have the greatest rank, in any order among
    /// themselves.
    var rank: Int
  }

  struct Edge {
    var from: End
    var to: End
    /// Whether the line must lead from left to right.
    var isDirected: Bool

    var isLoop: Bool { from.node == to.node }
  }

  static let rankCount = 4
  /// The rank of the foot, below all rows.
  static let footRank = 3

  var nodes: [Node]
  var edges: [Edge]

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
