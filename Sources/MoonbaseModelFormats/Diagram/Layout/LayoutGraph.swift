/// A diagram for its layout: boxes with their measures, and lines with the places where they leave.
struct LayoutGraph {
  /// A box. Lines leave it at its head, or at one of its rows, whose order the layout chooses.
  struct Node {
    var width: Double
    var height: Double
    /// Where the first row is, and how many there are.
    var firstRow: Double
    var rowCount: Int
  }

  struct End {
    var node: Int
    var row: Int?
    /// Where on a side the line may leave: of two with different ranks the lower one leaves higher. Rows have the
    /// greatest rank, and any order among themselves.
    var rank: Int
  }

  struct Edge {
    var from: End
    var to: End
    /// Whether the line goes from the left to the right.
    var isDirected: Bool

    var isLoop: Bool { from.node == to.node }
  }

  static let rankCount = 4
  /// The rank of the foot of a box, below all rows.
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

  /// The neighbours of each node: the nodes at the other ends of its lines, in their order.
  var neighbours: [[Int]] {
    var neighbours = [[Int]](repeating: [], count: nodes.count)
    for edge in edges where !edge.isLoop {
      neighbours[edge.from.node].append(edge.to.node)
      neighbours[edge.to.node].append(edge.from.node)
    }
    return neighbours.map { Array(Set($0)).sorted() }
  }

  /// The nodes that lines connect with a node, the nearest first. Nodes that were seen before are left out.
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

  /// The parts that no line connects, each in the order of its nodes; the one with the first node comes first.
  func components() -> [[Int]] {
    let neighbours = neighbours
    var isSeen = [Bool](repeating: false, count: nodes.count)
    return nodes.indices.compactMap { start in
      isSeen[start] ? nil : Self.reached(from: start, over: neighbours, seen: &isSeen).sorted()
    }
  }

  /// A part by itself: nodes by their places in the list, and the numbers of its edges here.
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
