package import MoonbaseModel
package import MoonbasePlatform

extension PropertyList {
  /// Reads a binary or XML property list. Throws `ModelError` with `.malformedFile`.
  ///
  /// `file` is the name in errors.
  package init(contents data: Data, file: String) throws(ModelError) {
    if Self.isBinary(data) {
      self = try PropertyList(binary: data)
    } else {
      let root = try MarkupReader.read(data, file: file)
      guard root.name == "plist", let child = root.children.first, root.children.count == 1 else {
        throw ModelError(.malformedFile, message: "the file is no property list", at: SourceLocation(file: file))
      }
      try self.init(markup: child, file: file)
    }
  }

  /// Reads an element of an XML property list.
  ///
  /// Throws `.malformedFile` with the line for an unknown element or a wrong content.
  init(markup element: MarkupElement, file: String) throws(ModelError) {
    func malformed() -> ModelError {
      ModelError(
        .malformedFile, message: "<\(element.name)> does not belong here, or holds what it should not",
        at: SourceLocation(file: file, line: element.line))
    }
    switch element.name {
    case "string": self = .string(element.text)
    case "true": self = .bool(true)
    case "false": self = .bool(false)
    case "integer":
      guard let integer = Int64(element.text) else { throw malformed() }
      self = .integer(integer)
    case "real":
      guard let real = Double(element.text) else { throw malformed() }
      self = .real(real)
    case "data":
      guard let data = Data(base64Encoded: element.text, options: .ignoreUnknownCharacters) else { throw malformed() }
      self = .data(data)
    case "date":
      guard let date = try? Date(element.text, strategy: .iso8601) else { throw malformed() }
      self = .date(date)
    case "array":
      var elements: [PropertyList] = []
      for child in element.children { elements.append(try PropertyList(markup: child, file: file)) }
      self = .array(elements)
    case "dict":
      guard element.children.count.isMultiple(of: 2) else { throw malformed() }
      var dictionary: [String: PropertyList] = [:]
      for index in stride(from: 0, to: element.children.count, by: 2) {
        guard element.children[index].name == "key" else { throw malformed() }
        dictionary[element.children[index].text] = try PropertyList(markup: element.children[index + 1], file: file)
      }
      self = .dictionary(dictionary)
    default: throw malformed()
    }
  }
}
