/// A diagram as a Mermaid class diagram, Mermaid's only kind with attributes, multiplicities and inheritance.
///
/// The result is a text for documents, in which Mermaid chooses the layout. Names are escaped, so
/// that no name of a model can add other elements.
struct MermaidDiagram {
  /// The boxes and lines.
  private let content: DiagramContent

  /// A diagram of a content.
  init(_ content: DiagramContent) { self.content = content }

  /// The text of the diagram, beginning with `classDiagram`.
  var text: String {
    let lines = content.boxes.indices.flatMap(declaration) + content.lines.map(line)
    return (["classDiagram"] + lines.map { "  \($0)" }).joined(separator: "\n") + "\n"
  }

  /// The YAML header that gives a diagram a title.
  static func head(_ title: String) -> String {
    let text = title.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar.value {
      case 0x22, 0x5c: result += "\\\(scalar)"
      case 0..<32, 127..<160, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069, 0xfeff, 0xfffe, 0xffff: result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return "---\ntitle: \"\(text)\"\n---\n"
  }

  /// The identifier of a box: its name if that is plain and not reserved by Mermaid.
  private func id(_ box: Int) -> String {
    let name = content.boxes[box].name
    let isPlain = name.utf8.allSatisfy { $0.isPlain } && name.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
    return isPlain && !Self.reserved.contains(name.lowercased()) ? name : "entity_\(box)"
  }

  /// Words of Mermaid's grammar, in lower case.
  private static let reserved: Set<String> = [
    "class", "namespace", "note", "direction", "style", "click", "link", "links", "callback", "end", "tb", "bt", "lr",
    "rl", "call", "href", "for", "classdef", "cssclass", "title", "acctitle", "accdescr", "self", "default",
  ]

  /// The lines that declare a box with its attributes and fetched properties.
  private func declaration(_ index: Int) -> [String] {
    let box = content.boxes[index]
    let id = id(index)
    let label = id == box.name ? "" : "[\"\(Self.text(box.name))\"]"
    let rows = box.attributes.map(Self.row) + box.fetchedProperties.map { Self.row($0) + " fetched" }
    let members = (box.isAbstract ? ["<<abstract>>"] : []) + rows
    if members.isEmpty { return ["class \(id)\(label)"] }
    return ["class \(id)\(label) {"] + members.map { "  \($0)" } + ["}"]
  }

  /// The line of an attribute. Elements of composites are marked by dots.
  private static func row(_ row: DiagramContent.Row) -> String {
    let marks = (row.isTransient ? " transient" : "") + (row.isDerived ? " derived" : "")
    let name = String(repeating: "· ", count: row.depth) + text(row.name)
    return "\(name) : \(text(row.type))\(marks)"
  }

  /// The line of a relationship or an inheritance: `Person "*" -- "0..1" Department : department /
  /// people`.
  private func line(_ line: DiagramContent.Line) -> String {
    let (from, to) = (id(line.from.box), id(line.to.box))
    if line.isInheritance { return "\(from) <|-- \(to)" }
    func end(_ end: DiagramContent.End) -> String {
      end.multiplicity.map { "\"\($0.text)\" " } ?? ""
    }
    let arrow = line.from.multiplicity == nil ? "-->" : "--"
    let count = line.to.multiplicity.map { " \"\($0.text)\"" } ?? ""
    let names = [line.from, line.to].compactMap { end in
      end.row.map { Self.text(content.boxes[end.box].relationships[$0].name) }
    }
    let label =
      names.count == 2 && line.from.box == line.to.box && names[0] == names[1]
      ? names[0] : names.joined(separator: " / ")
    return "\(from) \(end(line.from))\(arrow)\(count) \(to) : \(label)"
  }

  /// A text with Mermaid's special characters escaped.
  private static func text(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\"", "<", ">", "{", "}", "[", "]", "(", ")", "#", ";", ":", "~", "`", "&", "*", "$", "%", "|":
        result += "#\(scalar.value);"
      case _ where scalar.value < 32 || scalar.value == 127: result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}

extension DiagramContent.Multiplicity {
  /// In UML notation.
  fileprivate var text: String { isMany ? (isRequired ? "1..*" : "*") : (isRequired ? "1" : "0..1") }
}

extension UInt8 {
  /// Whether it is a letter, a digit or an underscore.
  fileprivate var isPlain: Bool {
    (0x30...0x39).contains(self) || (0x41...0x5a).contains(self) || (0x61...0x7a).contains(self) || self == 0x5f
  }
}
