/// The size of a box and the positions of its rows.
struct BoxMeasure {
  static let headHeight = 28.0
  static let rowHeight = 18.0
  static let padding = 10.0
  static let nameSize = 13.0
  static let rowSize = 12.0
  static let noteSize = 10.0
  static let indent = 12.0
  private static let sectionPadding = 4.0
  private static let gap = 16.0
  private static let leastWidth = 130.0
  private static let greatestWidth = 420.0

  /// The distance from the top at which lines of inheritance, and of relationships without an inverse, end.
  static let inheritanceEnd = 10.0
  static let headEnd = 20.0
  /// The distance from the bottom.
  static let footEnd = 2.0

  let width: Double
  let height: Double
  /// The top of each section's first row; nil for an empty section.
  let attributes: Double?
  let relationships: Double?
  let fetchedProperties: Double?
  /// The separators between sections.
  let separators: [Double]
  private let rowCount: Int

  init(_ box: DiagramContent.Box) {
    var top = Self.headHeight
    var separators: [Double] = []
    func section(_ rows: [DiagramContent.Row]) -> Double? {
      guard !rows.isEmpty else { return nil }
      separators.append(top)
      let first = top + Self.sectionPadding
      top = first + Double(rows.count) * Self.rowHeight + Self.sectionPadding
      return first
    }
    attributes = section(box.attributes)
    relationships = section(box.relationships)
    fetchedProperties = section(box.fetchedProperties)
    height = top
    self.separators = separators
    rowCount = box.relationships.count
    width = Self.width(of: box)
  }

  var node: LayoutGraph.Node {
    LayoutGraph.Node(width: width, height: height, firstRow: relationships ?? 0, rowCount: rowCount)
  }

  private static func width(of box: DiagramContent.Box) -> Double {
    let note = DiagramSVG.note(of: box)
    let head =
      TextWidth.of(box.name, size: nameSize, bold: true) + (note.isEmpty ? 0 : gap + TextWidth.of(note, size: noteSize))
    let rows =
      (box.attributes + box.relationships).map { row in
        TextWidth.of(DiagramSVG.name(of: row), size: rowSize) + gap + TextWidth.of(row.type, size: rowSize)
          + Double(row.depth) * indent
      }
      + box.fetchedProperties.map { row in
        TextWidth.of(row.name + DiagramSVG.fetchMark + row.type, size: rowSize) + gap
      }
    let widest = max(head, rows.max() ?? 0) + 2 * padding
    return min(max(widest, leastWidth), greatestWidth).rounded(.up)
  }
}
