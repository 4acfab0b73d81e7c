import MoonbaseModel

/// An element of an XML file.
///
/// `MarkupReader` makes the whole tree of a file. The model readers then take it apart through
/// `MarkupFields`.
struct MarkupElement {
  /// The name, including a prefix.
  var name: String
  /// The attributes in the order written.
  var attributes: [(name: String, value: String)] = []
  /// The child elements, in order.
  var children: [MarkupElement] = []
  /// The text directly inside, without that of child elements.
  var text = ""
  /// The line where the element begins, from 1.
  var line: Int

  /// The value of an attribute.
  subscript(attribute: String) -> String? { attributes.first { $0.name == attribute }?.value }

  /// The child elements with this name.
  func children(named name: String) -> [MarkupElement] { children.filter { $0.name == name } }

  /// The first child element with this name.
  func child(_ name: String) -> MarkupElement? { children.first { $0.name == name } }
}
