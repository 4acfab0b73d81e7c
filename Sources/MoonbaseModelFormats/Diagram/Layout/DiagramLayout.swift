import MoonbasePlatform

/// The positions of the boxes and lines of a diagram.
///
/// The connected parts of a diagram are laid out one by one (`PartLayout`, `PlacedPart`), and then
/// placed in rows. Lengths are in pixels from the upper left corner. Equal diagrams give equal
/// layouts.
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

  /// The least distance between columns, which has room for curves.
  static let leastChannel = 92.0
  /// The greatest distance between columns.
  static let greatestChannel = 220.0
  /// The length of the straight segment at a box.
  static let stub = 20.0
  /// The reach of a loop to the right of its box.
  static let loopWidth = 30.0
  /// The distance between parts.
  private static let partGap = 44.0
  /// The wanted ratio of width to height.
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

  /// Computes the layout of a diagram.
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
  ///
  /// The limit of a row's width follows from the area of all parts and the wanted shape.
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

  /// Adds a part with its upper left corner at a point.
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
///
/// A shelf is as high as its first part. Parts that follow are placed beside each other, or below a
/// lower part of the same shelf.
private struct Shelf {
  /// The parts below each other, with the width of the first.
  private struct Column {
    /// The left side.
    var x: Double
    /// The width of the first part.
    var width: Double
    /// The lower edge of the last part.
    var bottom: Double
  }

  /// The top of the row.
  private let y: Double
  /// The greatest width of the row.
  private let limit: Double
  /// The distance between parts.
  private let gap: Double
  /// The columns, from the left.
  private var columns: [Column] = []
  /// The lower edge of the row.
  private(set) var bottom: Double

  /// An empty row.
  init(y: Double, limit: Double, gap: Double) {
    (self.y, self.limit, self.gap, bottom) = (y, limit, gap, y)
  }

  /// The place of a part of this size; nil if the row has no room.
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
