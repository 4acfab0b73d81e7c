import MoonbaseModelFormats

/// The lines of a layout as they are drawn, in short straight pieces.
struct DrawnLines {
  typealias Point = DiagramLayout.Point

  let layout: DiagramLayout
  let lines: [[Point]]

  init(_ layout: DiagramLayout) {
    self.layout = layout
    lines = layout.lines.map { line in
      var drawn = [line.points[0]]
      for index in stride(from: 1, to: line.points.count, by: 2) {
        drawn.append(line.points[index])
        guard index + 1 < line.points.count else { break }
        drawn += Self.curve(from: line.points[index], to: line.points[index + 1], isLoop: line.isLoop)
      }
      return drawn
    }
  }

  private static func curve(from one: Point, to other: Point, isLoop: Bool) -> [Point] {
    let middle = isLoop ? one.x + 22 : (one.x + other.x) / 2
    return (1...16).map { step in
      let t = Double(step) / 16
      let (a, b, c, d) = (pow3(1 - t), 3 * t * (1 - t) * (1 - t), 3 * t * t * (1 - t), pow3(t))
      return Point(
        x: a * one.x + (b + c) * middle + d * other.x, y: (a + b) * one.y + (c + d) * other.y)
    }
  }

  private static func pow3(_ number: Double) -> Double { number * number * number }

  /// Lines that cross a box, with the box.
  var linesThroughBoxes: [(line: Int, box: Int)] {
    lines.indices.flatMap { line in
      layout.boxes.indices.compactMap { index in
        let box = layout.boxes[index]
        let isThrough = lines[line].contains { point in
          point.x > box.x + 1 && point.x < box.x + box.width - 1 && point.y > box.y - 2
            && point.y < box.y + box.height + 2
        }
        return isThrough ? (line, index) : nil
      }
    }
  }

  /// The number of overlapping boxes.
  var overlaps: Int {
    layout.boxes.indices.reduce(0) { sum, index in
      let one = layout.boxes[index]
      return sum
        + layout.boxes[..<index].count { other in
          one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height
            && other.y < one.y + one.height
        }
    }
  }

  /// The number of crossings. Lines that end at one point of a box's head only touch there.
  var crossings: Int {
    lines.indices.reduce(0) { sum, index in sum + (0..<index).reduce(0) { $0 + crossings(lines[index], lines[$1]) } }
  }

  /// Two lines may cross repeatedly: between each two columns that both pass.
  private func crossings(_ one: [Point], _ other: [Point]) -> Int {
    guard Self.mayMeet(one, other, \.x), Self.mayMeet(one, other, \.y) else { return 0 }
    return zip(one, one.dropFirst()).reduce(0) { sum, piece in
      sum
        + zip(other, other.dropFirst()).count { rest in
          guard max(piece.0.x, piece.1.x) >= min(rest.0.x, rest.1.x),
            max(rest.0.x, rest.1.x) >= min(piece.0.x, piece.1.x)
          else { return false }
          return Self.cross(piece.0, piece.1, rest.0, rest.1)
        }
    }
  }

  private static func mayMeet(_ one: [Point], _ other: [Point], _ place: (Point) -> Double) -> Bool {
    let (first, second) = (one.map(place), other.map(place))
    return (first.min() ?? 0) <= (second.max() ?? 0) && (second.min() ?? 0) <= (first.max() ?? 0)
  }

  private static func cross(_ a: Point, _ b: Point, _ c: Point, _ d: Point) -> Bool {
    func side(_ p: Point, _ q: Point, _ r: Point) -> Double {
      let area = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)
      return abs(area) < 1e-6 ? 0 : area
    }
    return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
  }
}
