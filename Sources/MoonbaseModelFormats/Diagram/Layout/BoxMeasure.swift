/// The size of a box and the positions of its rows.
///
/// A box has a head with the name, and a section each for attributes, relationships and fetched
/// properties. All lengths are in the pixels of SVG; rows are measured from the top of the box.
struct BoxMeasure {
  /// The height of the head.
  static let headHeight = 28.0
  /// The height of a row.
  static let rowHeight = 18.0
  /// The distance of texts from the sides.
  static let padding = 10.0
  /// The font size of names of entities.
  static let nameSize = 13.0
  /// The font size of rows.
  static let rowSize = 12.0
  /// The font size of the note beside a name.
  static let noteSize = 10.0
  /// The indentation of each level of a composite's elements.
  static let indent = 12.0
  /// The distance of the rows from a section's edges.
  private static let sectionPadding = 4.0
  /// The least distance between a name and a type.
  private static let gap = 16.0
  /// The least width of a box.
  private static let leastWidth = 130.0
  /// The greatest width; longer texts are truncated.
  private static let greatestWidth = 420.0

  /// The distance from the top at which lines of inheritance, and of relationships without an inverse, end.
  static let inheritanceEnd = 10.0
  /// The distance from the top for a relationship without an inverse.
  static let headEnd = 20.0
  /// The distance from the bottom.
  static let footEnd = 2.0

  /// The width that all texts need, within the bounds.
  let width: Double
  /// The height of head and sections.
  let height: Double
  /// The top of each section's first row; nil for an empty section.
  let attributes: Double?
  /// The top of the first relationship.
  let relationships: Double?
  /// The top of the first fetched property.
  let fetchedProperties: Double?
  /// The separators between sections.
  let separators: [Double]
  /// The number of relationships.
  private let rowCount: Int

  /// The measure of a box.
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

  /// The box as a node of the layout.
  var node: LayoutGraph.Node {
    LayoutGraph.Node(width: width, height: height, firstRow: relationships ?? 0, rowCount: rowCount)
  }

  /// The width of a box: the widest of the head and the rows.
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
