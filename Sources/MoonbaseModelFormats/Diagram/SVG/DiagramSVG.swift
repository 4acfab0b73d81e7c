/// Draws a diagram as SVG.
///
/// The picture has the title, the number of entities, the diagram and a legend. It has a title and
/// a description for screen readers, contains no scripts and refers to no other file.
struct DiagramSVG {
  /// The distance from the edges of the picture.
  static let margin = 24.0
  /// The height of the title.
  private static let titleHeight = 34.0
  /// The height of the legend.
  private static let legendHeight = 30.0

  /// The boxes and lines.
  let content: DiagramContent
  /// Their positions.
  let layout: DiagramLayout
  /// The writer of the elements.
  private var svg = SVGWriter()

  /// Draws a diagram.
  init(_ content: DiagramContent, layout: DiagramLayout) {
    (self.content, self.layout) = (content, layout)
    write()
  }

  /// The text of the SVG file.
  var text: String { svg.text }

  /// Writes all elements. The diagram is a group that is moved by the margins.
  private mutating func write() {
    let legend = DiagramLegend(content)
    let title = TextWidth.fitting(content.title, in: 700, size: 16, bold: true)
    let head = TextWidth.of(title, size: 16, bold: true) + 16 + TextWidth.of(count, size: 12)
    let width = max(layout.width, head, legend.width) + 2 * Self.margin
    let height = layout.height + Self.titleHeight + (legend.width > 0 ? Self.legendHeight : 0) + 2 * Self.margin
    begin(width: width.rounded(.up), height: height.rounded(.up))
    svg.label(title, x: Self.margin, y: Self.margin + 14, "title")
    svg.label(
      count, x: Self.margin + TextWidth.of(title, size: 16, bold: true) + 16, y: Self.margin + 14, "faint")
    svg.line(
      "<g transform=\"translate(\(SVGWriter.number(Self.margin)) \(SVGWriter.number(Self.margin + Self.titleHeight)))\">"
    )
    for (line, place) in zip(content.lines, layout.lines) { svg.add(line, at: place) }
    for (box, place) in zip(content.boxes, layout.boxes) { svg.add(box, at: place) }
    svg.line("</g>")
    legend.write(to: &svg, x: Self.margin, y: height - Self.margin)
    svg.line("</svg>")
  }

  /// Writes the beginning of the file: size, description, style and background.
  private mutating func begin(width: Double, height: Double) {
    let (width, height) = (SVGWriter.number(width), SVGWriter.number(height))
    svg.line(
      "<svg class=\"moonbase-diagram\" xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" viewBox=\"0 0 \(width) \(height)\" "
        + "role=\"img\" aria-labelledby=\"moonbase-diagram-title moonbase-diagram-description\">")
    svg.line("<title id=\"moonbase-diagram-title\">\(SVGWriter.markup(content.title))</title>")
    svg.line("<desc id=\"moonbase-diagram-description\">\(SVGWriter.markup(description))</desc>")
    svg.line("<style>\n\(DiagramStyle.text)\n</style>")
    svg.line("<rect class=\"paper\" width=\"\(width)\" height=\"\(height)\"/>")
  }

  /// The number of entities in words.
  private var count: String { content.boxes.count == 1 ? "1 entity" : "\(content.boxes.count) entities" }

  /// The model as text, for screen readers.
  private var description: String {
    let boxes = content.boxes.map { box in
      let attributes = box.attributes.map(\.name).joined(separator: ", ")
      return "\(box.name)\(attributes.isEmpty ? "" : " (\(attributes))")"
    }
    return (["\(count): \(boxes.joined(separator: "; "))."] + content.lines.map { "\($0.name)." }).joined(
      separator: " ")
  }

  // MARK: Texts

  /// The word before the entity of a fetched property.
  static let fetchMark = "fetch "

  /// The note beside an entity's name.
  static func note(of box: DiagramContent.Box) -> String {
    [box.className, box.isAbstract ? "abstract" : nil].compactMap(\.self).joined(separator: ", ")
  }

  /// The name of a row with its mark.
  static func name(of row: DiagramContent.Row) -> String { row.isDerived ? "/ \(row.name)" : row.name }
}
