/// Drawing boxes.
extension SVGWriter {
  /// The radius of the corners of a box.
  private static let radius = 5.0

  /// Draws a box at a place: frame, head, separators and rows.
  mutating func add(_ box: DiagramContent.Box, at place: DiagramLayout.Box) {
    line("<g>")
    line("<title>\(Self.markup(box.name))</title>")
    addFrame(place)
    addHead(box, at: place)
    let measure = BoxMeasure(box)
    for separator in measure.separators.dropFirst() {
      path("M\(Self.number(place.x)) \(Self.number(place.y + separator))h\(Self.number(place.width))", "rule")
    }
    add(box.attributes, from: measure.attributes, at: place)
    // Rows are drawn in the order in which their lines leave.
    let sorted = box.relationships.indices.sorted { place.rowPlaces[$0] < place.rowPlaces[$1] }
    add(sorted.map { box.relationships[$0] }, from: measure.relationships, at: place)
    add(box.fetchedProperties, from: measure.fetchedProperties, at: place, "italic", before: DiagramSVG.fetchMark)
    line("</g>")
  }

  /// Draws the background and the head's shape.
  private mutating func addFrame(_ place: DiagramLayout.Box) {
    let (x, y, width) = (Self.number(place.x), Self.number(place.y), Self.number(place.width))
    let radius = Self.number(Self.radius)
    line(
      "<rect class=\"box\" x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(Self.number(place.height))\" rx=\"\(radius)\"/>"
    )
    let across = Self.number(place.width - 2 * Self.radius)
    let head = BoxMeasure.headHeight
    // A box without rows has round lower corners too.
    let isAlone = place.height <= head
    let down = Self.number(head - (isAlone ? 2 : 1) * Self.radius)
    let end =
      isAlone
      ? "v\(down)q0 \(radius) -\(radius) \(radius)h-\(across)q-\(radius) 0 -\(radius) -\(radius)z"
      : "v\(down)h-\(width)z"
    let start =
      "M\(x) \(Self.number(place.y + Self.radius))q0 -\(radius) \(radius) -\(radius)h\(across)q\(radius) 0 \(radius) \(radius)"
    path(start + end, "head")
  }

  /// Draws the name of the entity and the note beside it. Both are truncated if there is not enough
  /// room.
  private mutating func addHead(_ box: DiagramContent.Box, at place: DiagramLayout.Box) {
    let room = place.width - 2 * BoxMeasure.padding
    let note = DiagramSVG.note(of: box)
    let wanted = TextWidth.of(note, size: BoxMeasure.noteSize)
    let left = room - TextWidth.of(box.name, size: BoxMeasure.nameSize, bold: true) - 8
    let noteWidth = note.isEmpty ? 0 : min(wanted, max(left, room / 3))
    let name = TextWidth.fitting(box.name, in: room - noteWidth, size: BoxMeasure.nameSize, bold: true)
    label(
      name, x: place.x + BoxMeasure.padding, y: place.y + 18.5, "name", box.isAbstract ? "italic" : "")
    label(
      TextWidth.fitting(note, in: noteWidth, size: BoxMeasure.noteSize), x: place.x + place.width - BoxMeasure.padding,
      y: place.y + 18, "small", "faint", "end")
  }

  /// A name and a type that share a row. If both are too long, the longer is truncated.
  private static func fitting(_ name: String, _ type: String, in room: Double) -> (name: String, type: String) {
    let size = BoxMeasure.rowSize
    let (first, second) = (TextWidth.of(name, size: size), TextWidth.of(type, size: size))
    if first + second <= room { return (name, type) }
    let half = room / 2
    let width = first < half ? first : second < half ? room - second : half
    return (
      TextWidth.fitting(name, in: width, size: size), TextWidth.fitting(type, in: room - width, size: size)
    )
  }

  /// Draws rows from a height on; nothing for an empty section.
  private mutating func add(
    _ rows: [DiagramContent.Row], from first: Double?, at place: DiagramLayout.Box, _ style: String = "",
    before prefix: String = ""
  ) {
    guard let first else { return }
    for (index, row) in rows.enumerated() {
      let y = place.y + first + Double(index) * BoxMeasure.rowHeight + 13
      let indent = Double(row.depth) * BoxMeasure.indent
      let room = place.width - 2 * BoxMeasure.padding - indent - 8
      let (name, type) = Self.fitting(DiagramSVG.name(of: row), prefix + row.type, in: room)
      label(
        name, x: place.x + BoxMeasure.padding + indent, y: y, row.isTransient || !style.isEmpty ? "italic" : "",
        row.isUnique ? "unique" : "")
      label(type, x: place.x + place.width - BoxMeasure.padding, y: y, "faint", "end")
    }
  }
}
