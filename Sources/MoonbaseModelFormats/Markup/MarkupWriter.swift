import MoonbaseModel
import MoonbasePlatform

/// Writes XML in the layout of Xcode's models: four spaces of indentation, a line per element.
///
/// The text so far, beginning with the XML declaration.
struct MarkupWriter {
  private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
  /// The number of open elements.
  private var depth = 0

  /// Writes an element without the attributes that have no value. `content` writes the child elements.
  ///
  /// - Parameters:
  ///   - name: The name of the element.
  ///   - attributes: The attributes in order; a nil value omits an attribute.
  ///   - others: Further attributes, from aspects.
  ///   - content: Writes the children. An element without children is written as an empty element.
  mutating func element(
    _ name: String, attributes: KeyValuePairs<String, String?>, others: [(key: String, value: String?)] = [],
    content: ((inout Self) -> Void)? = nil
  ) {
    text += String(repeating: "    ", count: depth) + "<\(name)"
    for case (let key, let value?) in Array(attributes) + others { text += " \(key)=\"\(value.markupText)\"" }
    guard let content else { return text += "/>\n" }
    text += ">\n"
    let start = text.utf8.count
    depth += 1
    content(&self)
    depth -= 1
    if text.utf8.count == start {
      text.removeLast(2)
      text += "/>\n"
    } else {
      text += String(repeating: "    ", count: depth) + "</\(name)>\n"
    }
  }
}
