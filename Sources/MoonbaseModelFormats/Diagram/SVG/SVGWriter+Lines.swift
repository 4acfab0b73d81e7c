/// Drawing lines and their ends.
extension SVGWriter {
  /// The length of a crow's foot.
  private static let foot = 11.0
  /// Half of its width.
  private static let spread = 5.5

  /// Draws a line with the marks at its ends. A tooltip names the relationship.
  mutating func add(_ line: DiagramContent.Line, at place: DiagramLayout.Line) {
    guard let first = place.points.first, let last = place.points.last else { return }
    self.line("<g>")
    self.line("<title>\(Self.markup(line.name))</title>")
    path(Self.path(place), line.isInheritance ? "kin" : "line")
    let (start, end) = place.isForward ? (line.from, line.to) : (line.to, line.from)
    // Lines leave to the right and arrive from the left; both ends of a loop are on the right.
    let outward = place.isLoop ? 1.0 : -1
    let spread = place.isLoop && abs(first.y - last.y) < 12 ? 3.5 : Self.spread
    if line.isInheritance {
      addTriangle(at: place.isForward ? first : last, outward: place.isForward ? 1 : outward)
    } else {
      addMark(start.multiplicity, at: first, outward: 1, spread: spread)
      addMark(end.multiplicity, at: last, outward: outward, spread: spread)
    }
    self.line("</g>")
  }

  /// The path: straight within a pair of points, curved between pairs.
  private static func path(_ line: DiagramLayout.Line) -> String {
    let points = line.points
    func text(_ point: DiagramLayout.Point) -> String { "\(number(point.x)) \(number(point.y))" }
    guard !line.isLoop else {
      let reach = number(points[1].x + DiagramLayout.loopWidth - DiagramLayout.stub + 12)
      return "M\(text(points[0]))L\(text(points[1]))C\(reach) \(number(points[1].y)) \(reach) \(number(points[2].y)) "
        + "\(text(points[2]))L\(text(points[3]))"
    }
    var path = "M\(text(points[0]))"
    for index in stride(from: 1, to: points.count, by: 2) {
      path += "H\(number(points[index].x))"
      guard index + 1 < points.count else { break }
      let (one, other) = (points[index], points[index + 1])
      let middle = number((one.x + other.x) / 2)
      path += "C\(middle) \(number(one.y)) \(middle) \(number(other.y)) \(text(other))"
    }
    return path
  }

  /// Draws the triangle at the parent of an inheritance.
  private mutating func addTriangle(at point: DiagramLayout.Point, outward: Double) {
    let (x, y) = (Self.number(point.x), Self.number(point.y))
    let back = Self.number(point.x + outward * 12)
    path("M\(x) \(y)L\(back) \(Self.number(point.y - 6))V\(Self.number(point.y + 6))Z", "kinmark")
  }

  /// Adds the mark of a multiplicity: a crow's foot for many, a bar for one; before it a circle for optional, or
  /// another bar.
  private mutating func addMark(
    _ multiplicity: DiagramContent.Multiplicity?, at point: DiagramLayout.Point, outward: Double, spread: Double
  ) {
    guard let multiplicity else { return }
    let tip = point.x + outward * Self.foot
    let (upper, lower) = (Self.number(point.y - spread), Self.number(point.y + spread))
    let edge = Self.number(point.x)
    func bar(_ x: Double) -> String { "M\(Self.number(x)) \(upper)V\(lower)" }
    let near =
      multiplicity.isMany
      ? "M\(edge) \(upper)L\(Self.number(tip)) \(Self.number(point.y))L\(edge) \(lower)" : bar(point.x + outward * 6)
    path(near + (multiplicity.isRequired ? bar(tip + outward * 2) : ""), "line")
    if multiplicity.isRequired { return }
    let centre = Self.number(tip + outward * 3.5)
    line("<circle class=\"mark\" cx=\"\(centre)\" cy=\"\(Self.number(point.y))\" r=\"3.5\"/>")
  }
}
