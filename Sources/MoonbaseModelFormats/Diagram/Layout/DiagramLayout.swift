import MoonbasePlatform

/// The positions of the boxes and lines of a diagram.
package struct DiagramLayout {
  /// A point in the picture.
  package struct Point: Hashable, Sendable {
    /// The distance from the left.
    package var x: Double
    /// The distance from the top.
    package var y: Double

    /// A point at these distances.
    package init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
  }

  /// The rectangle of a box.
  package struct Box: Sendable {
    /// The left side.
    package var x: Double
    /// The top.
    package var y: Double
    /// The width.
    package var width: Double
    /// The height.
    package var height: Double
    /// The position of each relationship's row, from 0.
    package var rowPlaces: [Int]
  }

  /// A line by its points in pairs: the points of a pair are connected by a straight segment, adjacent pairs by a curve
  /// with horizontal tangents.
  package struct Line: Sendable {
    /// The points.
    package var points: [Point]
    /// Whether the line connects a box with itself. Both ends are on the right side.
    package var isLoop = false
    /// Whether the first point is the end that the model names first.
    package var isForward = true
  }

  static let leastChannel = 92.0
  static let greatestChannel = 220.0
  /// The length of the straight segment at a box.
  static let stub = 20.0
  static let loopWidth = 30.0
  private static let partGap = 44.0
  private static let shape = 1.5

  /// The boxes, in the order of the model's entities.
  package private(set) var boxes: [Box]
  /// The lines, in the order of the diagram's lines.
  package private(set) var lines: [Line]
  /// The width of the picture.
  package private(set) var width = 0.0
  /// The height of the picture.
  package private(set) var height = 0.0
  /// The number of crossings.
  package private(set) var crossingCount = 0

  init(_ content: DiagramContent) {
    let graph = LayoutGraph(content)
    boxes = graph.nodes.map { Box(x: 0, y: 0, width: $0.width, height: $0.height, rowPlaces: []) }
    lines = graph.edges.map { _ in Line(points: []) }
    let parts = graph.components().map { members in
      let (part, edges) = graph.part(members)
      return PlacedPart(PartLayout(part), members: members, edges: edges)
    }
    place(parts)
  }

  /// Places parts in rows, the highest first. Free room below a part is filled by further parts.
  private mutating func place(_ parts: [PlacedPart]) {
    let area = parts.reduce(0) { $0 + ($1.width + Self.partGap) * ($1.height + Self.partGap) }
    let limit = max(parts.map(\.width).max() ?? 0, (area * Self.shape).squareRoot())
    var shelf = Shelf(y: 0, limit: limit, gap: Self.partGap)
    let sorted = parts.indices.sorted { (parts[$1].height, $0) < (parts[$0].height, $1) }
    for index in sorted {
      let part = parts[index]
      let origin: Point
      if let place = shelf.place(width: part.width, height: part.height) {
        origin = place
      } else {
        shelf = Shelf(y: shelf.bottom + Self.partGap, limit: limit, gap: Self.partGap)
        origin = shelf.place(width: part.width, height: part.height) ?? Point(x: 0, y: shelf.bottom)
      }
      add(part, at: origin)
    }
  }

  private mutating func add(_ part: PlacedPart, at origin: Point) {
    crossingCount += part.crossingCount
    for (box, member) in zip(part.boxes, part.members) {
      boxes[member] = box
      boxes[member].x += origin.x
      boxes[member].y += origin.y
    }
    for (line, number) in zip(part.lines, part.edges) {
      lines[number] = line
      for index in line.points.indices {
        lines[number].points[index].x += origin.x
        lines[number].points[index].y += origin.y
      }
    }
    width = max(width, origin.x + part.width)
    height = max(height, origin.y + part.height)
  }
}

/// A row of parts. Lower parts may have further parts below them.
private struct Shelf {
  private struct Column {
    var x: Double
    var width: Double
    var bottom: Double
  }

  private let y: Double
  private let limit: Double
  private let gap: Double
  private var columns: [Column] = []
  private(set) var bottom: Double

  init(y: Double, limit: Double, gap: Double) {
    (self.y, self.limit, self.gap, bottom) = (y, limit, gap, y)
  }

  mutating func place(width: Double, height: Double) -> DiagramLayout.Point? {
    for index in columns.indices
    where columns[index].width >= width && columns[index].bottom + gap + height <= bottom {
      let place = DiagramLayout.Point(x: columns[index].x, y: columns[index].bottom + gap)
      columns[index].bottom = place.y + height
      return place
    }
    let x = columns.last.map { $0.x + $0.width + gap } ?? 0
    guard columns.isEmpty || x + width <= limit else { return nil }
    columns.append(Column(x: x, width: width, bottom: y + height))
    bottom = max(bottom, y + height)
    return DiagramLayout.Point(x: x, y: y)
  }
}
