import MoonbaseLua
import MoonbaseModel

/// Names and types in the syntax of the Lua language server.
///
/// Names in a model may contain any characters. The functions turn them into class names, keys and
/// literals that the language server can parse.
enum EditorName {
  /// Types of the language server that an entity must not replace.
  private static let builtIn: Set = [
    "any", "boolean", "file", "function", "integer", "lightuserdata", "nil", "number", "string", "table", "thread",
    "unknown", "userdata", "moonbase", "self", "fun", "true", "false", "void", "async", "private", "protected",
    "public", "package",
  ]

  /// The keywords of Lua, and the keywords in comments of the language server.
  private static let keywords = LuaLexer.keywords.union(["private", "protected", "public", "package"])

  /// A class name for each of these names. The name itself is used if it is a valid class name, otherwise a similar
  /// one.
  ///
  /// Example: the entities `Person` and `string` become `Person` and `string_`.
  ///
  /// - Parameter names: The names of all entities.
  /// - Returns: As many different names, in the same order.
  static func classes(of names: [String]) -> [String] {
    var taken = Set(names.filter { identifier($0) == $0 && !builtIn.contains($0) })
    return names.map { name in
      if taken.contains(name) { return name }
      let base = "\(identifier(name))_"
      var candidate = base
      var number = 2
      while taken.contains(candidate) { (candidate, number) = ("\(base)\(number)", number + 1) }
      taken.insert(candidate)
      return candidate
    }
  }

  /// The name with invalid characters replaced, so that it is an identifier.
  ///
  /// Example: `2nd-name` becomes `_2nd_name`.
  private static func identifier(_ name: String) -> String {
    let plain = String(name.unicodeScalars.map { isOfIdentifier($0) ? Character($0) : "_" })
    return plain.first?.isNumber == true || plain.isEmpty ? "_\(plain)" : plain
  }

  /// Whether a character may be in an identifier of the language server.
  private static func isOfIdentifier(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII && (scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
  }

  /// A key of a table or a field of a class.
  ///
  /// A name that is no identifier is written in brackets: `["first name"]`.
  static func key(_ name: String) -> String {
    identifier(name) == name && !keywords.contains(name) ? name : "[\(text(name))]"
  }

  /// A text in quotation marks on one line.
  ///
  /// Control characters are escaped.
  static func text(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case _ where scalar.value < 32: result += "\\\(scalar.value)"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A text for a comment on one line.
  ///
  /// Control characters become spaces, because a line end would end the comment.
  static func comment(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.value < 32 ? " " : Character($0) })
  }

  /// The class of an attribute's values if it is neither built in nor an entity.
  ///
  /// - Parameters:
  ///   - attribute: An attribute of the model.
  ///   - entities: The class names of the entities.
  static func valueClass(_ attribute: AttributeDescription, besides entities: [String]) -> String? {
    guard let name = attribute.valueClassName, identifier(name) == name, !builtIn.contains(name),
      !AppleNames.isValueClass(name), !entities.contains(name)
    else { return nil }
    return name
  }

  /// The type of an attribute's values in Lua.
  ///
  /// - Parameters:
  ///   - attribute: An attribute of the model.
  ///   - entities: The class names of the entities.
  static func type(of attribute: AttributeDescription, besides entities: [String]) -> String {
    if let values = literals(of: attribute) { return values }
    switch attribute.type {
    case .integer16, .integer32, .integer64: return "integer"
    case .double, .float: return "number"
    case .decimal: return "moonbase.Decimal"
    case .string, .binaryData: return "string"
    case .boolean: return "boolean"
    case .date: return "moonbase.Date"
    case .uuid: return "moonbase.UUID"
    case .uri: return "moonbase.URI"
    case .objectID: return "moonbase.ObjectID"
    case .transformable, .undefined: return valueClass(attribute, besides: entities) ?? "any"
    case .composite:
      let elements = attribute.elements.map { "\(key($0.name)): \(type(of: $0, besides: entities))?" }
      return elements.isEmpty ? "table<string, any>" : "{ \(elements.joined(separator: ", ")) }"
    }
  }

  /// The values that the model allows if they are texts or integers.
  ///
  /// Example: `("new"|"old")`. Returns nil if the model does not list the values, or if one of them
  /// has another type.
  private static func literals(of attribute: AttributeDescription) -> String? {
    guard let allowed = attribute.validation.allowedValues, !allowed.isEmpty else { return nil }
    let literals = allowed.compactMap { value -> String? in
      switch value {
      case .string(let text): self.text(text)
      case .int(let number): "\(number)"
      default: nil
      }
    }
    guard literals.count == allowed.count else { return nil }
    return literals.count == 1 ? literals[0] : "(\(literals.joined(separator: "|")))"
  }
}
