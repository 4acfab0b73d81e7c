/// A part of a diagram with positions from 0.
///
/// It translates the columns and heights of a `PartLayout` into rectangles and points.
/// `DiagramLayout` moves it to its place in the picture.
struct PlacedPart {
  /// The numbers of the boxes in the whole diagram.
  let members: [Int]
  /// The numbers of the lines in the whole diagram.
  let edges: [Int]
  /// The rectangles of the boxes.
  private(set) var boxes: [DiagramLayout.Box] = []
  /// The points of the lines.
  private(set) var lines: [DiagramLayout.Line] = []
  /// The width of the part.
  private(set) var width = 0.0
  /// The height of the part.
  private(set) var height = 0.0
  /// The number of crossings.
  let crossingCount: Int

  /// The layout with columns and heights.
  private let layout: PartLayout
  /// The left side and the width of each column.
  private var columns: [(x: Double, width: Double)] = []
  /// The length of the straight segments to the right of each column.
  private var stubs: [Double] = []

  /// The graph of the part.
  private var graph: LayoutGraph { layout.graph }
  /// The order of the columns.
  private var order: ColumnOrder { layout.order }
  /// The heights.
  private var placement: ColumnPlacement { layout.placement }

  /// Places the boxes and lines of a layout.
  init(_ layout: PartLayout, members: [Int], edges: [Int]) {
    (self.layout, self.members, self.edges) = (layout, members, edges)
    crossingCount = layout.crossingCount
    placeColumns()
    boxes = graph.nodes.indices.map { node in
      let column = columns[order.columnOf[node]]
      return DiagramLayout.Box(
        x: column.x, y: placement.tops[node], width: column.width, height: graph.nodes[node].height,
        rowPlaces: placement.rowPlaces[node])
    }
    lines = graph.edges.indices.map { graph.edges[$0].isLoop ? loop($0) : line($0) }
    height = boxes.map { $0.y + $0.height }.max() ?? 0
    height = max(height, lines.flatMap(\.points).map(\.y).max() ?? 0)
  }

  /// Places the columns. Boxes of a column get the width of the widest.
  private mutating func placeColumns() {
    let loops = Set(graph.edges.filter(\.isLoop).map { order.columnOf[$0.from.node] })
    var x = 0.0
    for (index, column) in order.columns.enumerated() {
      let wide = column.filter { $0 < graph.nodes.count }.map { graph.nodes[$0].width }.max() ?? 0
      columns.append((x, wide))
      stubs.append(DiagramLayout.stub + (loops.contains(index) ? DiagramLayout.loopWidth : 0))
      width = x + wide + (loops.contains(index) ? DiagramLayout.loopWidth + 8 : 0)
      x += wide + channel(behind: index) + stubs[index] - DiagramLayout.stub
    }
  }

  /// The room for lines after a column, more for steep and for many lines.
  private func channel(behind column: Int) -> Double {
    guard column < order.segments.count else { return 0 }
    let steepest = order.segments[column].map { abs(placement.tops[$0.left] - placement.tops[$0.right]) }.max() ?? 0
    let wanted = DiagramLayout.leastChannel + steepest * 0.08 + Double(order.segments[column].count) * 1.5
    return min(wanted, DiagramLayout.greatestChannel)
  }

  // MARK: Lines

  /// The points of a line: two at each vertex, so that each straight segment is horizontal.
  private func line(_ number: Int) -> DiagramLayout.Line {
    let edge = graph.edges[number]
    let chain = order.chains[number]
    let isForward = chain.first == edge.from.node
    let (first, last) = isForward ? (edge.from, edge.to) : (edge.to, edge.from)
    let points = chain.enumerated().flatMap { index, vertex -> [DiagramLayout.Point] in
      let (left, width) = columns[order.columnOf[vertex]]
      let right = left + width
      let top = placement.tops[vertex]
      let stub = stubs[order.columnOf[vertex]]
      if index == 0 {
        let y = top + placement.offset(of: first, isRight: true)
        return [.init(x: right, y: y), .init(x: right + stub, y: y)]
      }
      if index == chain.count - 1 {
        let y = top + placement.offset(of: last, isRight: false)
        return [.init(x: left - DiagramLayout.stub, y: y), .init(x: left, y: y)]
      }
      return [.init(x: left - DiagramLayout.stub, y: top), .init(x: right + stub, y: top)]
    }
    return DiagramLayout.Line(points: points, isForward: isForward)
  }

  /// The points of a line from a box to itself, on its right side.
  private func loop(_ number: Int) -> DiagramLayout.Line {
    let edge = graph.edges[number]
    let (left, width) = columns[order.columnOf[edge.from.node]]
    let top = placement.tops[edge.from.node]
    var (from, to) = (
      top + placement.offset(of: edge.from, isRight: true), top + placement.offset(of: edge.to, isRight: true)
    )
    // The ends at the same row are separated slightly.
    if from == to { (from, to) = (from - 4.5, to + 4.5) }
    let right = left + width
    let points = [(right, from), (right + DiagramLayout.stub, from), (right + DiagramLayout.stub, to), (right, to)]
    return DiagramLayout.Line(points: points.map { .init(x: $0.0, y: $0.1) }, isLoop: true)
  }
}
