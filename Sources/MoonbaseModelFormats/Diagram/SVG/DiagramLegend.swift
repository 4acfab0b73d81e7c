/// The legend of the marks used in a picture.
///
/// The legend explains only marks that occur. It is drawn below the picture, in one line.
struct DiagramLegend {
  /// A mark: a line with a multiplicity, inheritance, or a text with a style.
  private enum Mark {
    case line(DiagramContent.Multiplicity), kin, text(String, String)
  }

  /// The marks with their explanations, in a fixed order.
  private let entries: [(mark: Mark, text: String)]

  /// The legend of a diagram.
  init(_ content: DiagramContent) {
    let rows = content.boxes.flatMap { $0.attributes + $0.relationships }
    let ends = Set(content.lines.flatMap { [$0.from.multiplicity, $0.to.multiplicity] }.compactMap(\.self))
    var entries: [(Mark, String)] = []
    for (isMany, isRequired, text) in [
      (false, false, "none or one"), (false, true, "one"), (true, false, "any number"), (true, true, "one or more"),
    ] {
      let multiplicity = DiagramContent.Multiplicity(isMany: isMany, isRequired: isRequired)
      if ends.contains(multiplicity) { entries.append((.line(multiplicity), text)) }
    }
    if content.lines.contains(where: \.isInheritance) { entries.append((.kin, "inherits")) }
    if rows.contains(where: { $0.type.hasSuffix("?") }) { entries.append((.text("?", ""), "optional")) }
    if rows.contains(where: \.isUnique) { entries.append((.text("name", "unique"), "unique")) }
    if rows.contains(where: \.isTransient) { entries.append((.text("name", "italic"), "transient")) }
    if rows.contains(where: \.isDerived) { entries.append((.text("/", ""), "derived")) }
    self.entries = entries
  }

  /// The width of all entries; 0 without entries.
  var width: Double { entries.reduce(0) { $0 + Self.width(of: $1) } }

  /// The width of an entry with the distance to the next.
  private static func width(of entry: (mark: Mark, text: String)) -> Double {
    let text = TextWidth.of(entry.text, size: 10) + 24
    if case .text(let mark, _) = entry.mark { return text + TextWidth.of(mark, size: 10) + 6 }
    return text + 34
  }

  /// Draws the legend, with its base line at a height.
  func write(to svg: inout SVGWriter, x: Double, y: Double) {
    var x = x
    for entry in entries {
      let next = x + Self.width(of: entry)
      switch entry.mark {
      case .text(let mark, let style):
        svg.label(mark, x: x, y: y, "small", style)
        x += TextWidth.of(mark, size: 10) + 6
      case .line(let multiplicity):
        svg.addSample(multiplicity, x: x, y: y - 3.5)
        x += 34
      case .kin:
        svg.addSample(nil, x: x, y: y - 3.5)
        x += 34
      }
      svg.label(entry.text, x: x, y: y, "small", "faint")
      x = next
    }
  }
}

extension SVGWriter {
  /// Adds a sample of a line with its end; nil means inheritance.
  fileprivate mutating func addSample(_ multiplicity: DiagramContent.Multiplicity?, x: Double, y: Double) {
    let end = DiagramContent.End(box: 0, row: nil, multiplicity: multiplicity)
    let start = DiagramContent.End(box: 0, row: nil, multiplicity: nil)
    let sample = DiagramContent.Line(
      isInheritance: multiplicity == nil, from: multiplicity == nil ? end : start,
      to: multiplicity == nil ? start : end,
      name: "")
    let points = [DiagramLayout.Point(x: x, y: y), DiagramLayout.Point(x: x + 28, y: y)]
    add(sample, at: DiagramLayout.Line(points: points))
  }
}
