import MoonbasePlatform

/// Where each box and each line of a diagram is.
package struct DiagramLayout {
  package struct Point: Hashable, Sendable {
    package var x: Double
    package var y: Double

    package init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
  }

  package struct Box: Sendable {
    package var x: Double
    package var y: Double
    package var width: Double
    package var height: Double
    /// The place of each relationship's row, from 0.
    package var rowPlaces: [Int]
  }

  /// A line by its points, two by two: a straight piece leads from one to the next of a pair, a curve from pair to
  /// pair. It leaves a point of a curve as it comes, level.
  package struct Line: Sendable {
    package var points: [Point]
    /// Whether it leads from a box to the same box: it goes out on the right and comes back there.
    package var isLoop = false
    /// Whether its first point is the end that the model names first.
    package var isForward = true
  }

  static let leastChannel = 92.0
  static let greatestChannel = 220.0
  /// How far a line goes straight out of a box.
  static let stub = 20.0
  static let loopWidth = 30.0
  private static let partGap = 44.0
  private static let shape = 1.5

  /// In the order of the model's entities.
  package private(set) var boxes: [Box]
  /// In the order of the diagram's lines.
  package private(set) var lines: [Line]
  package private(set) var width = 0.0
  package private(set) var height = 0.0
  /// How often lines cross.
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

  /// Puts parts into rows, high ones first; where there is room below one, another stands there.
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

/// A row of parts. Below a part that is lower than the row there may be others.
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
