package import MoonbaseModel

/// A picture of a model: entities with their properties, relationships with crow's feet, inheritance.
///
/// ```swift
/// let diagram = ModelDiagram(model, title: "Shop")
/// let picture = diagram.svg            // a file of its own, or a part of a page
/// let text = diagram.mermaid           // a class diagram for documents
/// ```
///
/// Equal models give equal texts.
package struct ModelDiagram {
  let content: DiagramContent

  /// A picture of a model; the title stands above it.
  package init(_ model: ResolvedModel, title: String) { content = DiagramContent(model, title: title) }

  /// The picture as SVG, in light colours and in dark ones for a dark screen.
  package var svg: String { DiagramSVG(content, layout: layout).text }

  /// The places of boxes and lines.
  package var layout: DiagramLayout { DiagramLayout(content) }

  /// A class diagram of Mermaid.
  package var mermaid: String { MermaidDiagram(content).text }

  /// A class diagram of Mermaid with a title.
  package func mermaid(title: String) -> String { MermaidDiagram.head(title) + mermaid }
}
