package import MoonbaseModel

/// A picture of a model: entities with properties, relationships in crow's foot notation, inheritance.
///
/// ```swift
/// let diagram = ModelDiagram(model, title: "Shop")
/// let picture = diagram.svg            // a file of its own, or a part of a page
/// let text = diagram.mermaid           // a class diagram for documents
/// ```
///
/// Equal models give equal texts.
package struct ModelDiagram {
  /// The boxes and lines of the model.
  let content: DiagramContent

  /// A picture of a model, with a title above it.
  package init(_ model: ResolvedModel, title: String) { content = DiagramContent(model, title: title) }

  /// The picture as SVG, with colours for light and dark mode.
  package var svg: String { DiagramSVG(content, layout: layout).text }

  /// The positions of boxes and lines.
  package var layout: DiagramLayout { DiagramLayout(content) }

  /// The diagram as a Mermaid class diagram.
  package var mermaid: String { MermaidDiagram(content).text }

  /// The diagram as a Mermaid class diagram with a title.
  package func mermaid(title: String) -> String { MermaidDiagram.head(title) + mermaid }
}
