import MoonbaseModel

/// An element of an XML file.
struct MarkupElement {
  /// The name, with its prefix if it has one.
  var name: String
  /// The attributes in the order written.
  var attributes: [(name: String, value: String)] = []
  /// The elements inside, in order.
  var children: [MarkupElement] = []
  /// The text directly inside, without that of its children.
  var text = ""
  /// The line where the element begins, from 1.
  var line: Int

  /// The value of an attribute.
  subscript(attribute: String) -> String? { attributes.first { $0.name == attribute }?.value }

  /// The elements inside of one name.
  func children(named name: String) -> [MarkupElement] { children.filter { $0.name == name } }

  /// The first element inside of a name.
  func child(_ name: String) -> MarkupElement? { children.first { $0.name == name } }
}
