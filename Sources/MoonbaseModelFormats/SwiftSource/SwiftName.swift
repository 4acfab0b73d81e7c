/// Names in Swift.
///
/// All functions are pure. `SwiftModel` writes names only through them, so that no name of a model
/// can break the source.
enum SwiftName {
  /// Keywords, which need backticks as names.
  private static let keywords: Set<String> = Set(
    """
    associatedtype class deinit enum extension fileprivate func import init inout internal let open operator private \
    precedencegroup protocol public rethrows static struct subscript typealias var break case catch continue default \
    defer do else fallthrough for guard if in repeat return throw switch where while Any as await false is nil self \
    Self super throws true try
    """.split(separator: " ").map(String.init))

  /// Members of `ManagedObject`, whose names a property of a class cannot have.
  private static let membersOfObjects: Set<String> = Set(
    """
    description debugDescription hash hashValue entity objectID managedObjectContext isInserted isUpdated isDeleted \
    isFault hasChanges hasPersistentChangedValues predicateValue fireFault changedValues changedValuesForCurrentEvent \
    committedValues awakeFromInsert awakeFromFetch willSave didSave prepareForDeletion willTurnIntoFault \
    didTurnIntoFault validateForInsert validateForUpdate validateForDelete hooks customAccessors keyPaths fetchRequest \
    overriddenLifecycleMethods init self Self Type Protocol Keys Related CustomAccessor InitializationToken
    """.split(separator: " ").map(String.init))

  /// The name in source, with backticks if it is a keyword.
  static func written(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// A property name close to the model's that no object and no other property has.
  ///
  /// Underscores are appended until the name is free.
  static func property(_ name: String, besides taken: Set<String>) -> String {
    // Underscores alone are no valid name.
    var candidate = name.allSatisfy { $0 == "_" } ? "property\(name)" : name
    while membersOfObjects.contains(candidate) || taken.contains(candidate) { candidate += "_" }
    return candidate
  }

  /// A name for a nested type that differs from all types used in the class.
  ///
  /// The name is the property's, with an upper-case first letter.
  static func nestedType(_ property: String, besides taken: Set<String>) -> String {
    var candidate = capitalized(property)
    while membersOfObjects.contains(candidate) || SwiftTypeNames.known.contains(candidate) || taken.contains(candidate)
    {
      candidate += "_"
    }
    return candidate
  }

  /// Whether a text is a valid type name.
  ///
  /// A type name begins with a letter or an underscore; words such as `Any` are excluded.
  static func isType(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, isLetter(first) else { return false }
    let isPlain = text.unicodeScalars.allSatisfy { isLetter($0) || isDigitOrMark($0) }
    return isPlain && !["Type", "Protocol", "Self", "Any", "_"].contains(text)
  }

  /// Whether a character may begin a name.
  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? scalar == "_" || scalar.properties.isAlphabetic : scalar.properties.isXIDStart
  }

  /// Whether a character may follow in a name.
  private static func isDigitOrMark(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? ("0"..."9").contains(scalar) : scalar.properties.isXIDContinue
  }

  /// The text with an upper-case first letter.
  static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

  /// The name with a lower-case first letter, or in lower case as a whole if it is upper case, as `AGE`.
  static func uncapitalized(_ name: String) -> String {
    name == name.uppercased() ? name.lowercased() : name.prefix(1).lowercased() + name.dropFirst()
  }

  /// The modules that qualify a type's name if a class of the model has the same name.
  static let modules: Set<String> = ["Foundation", "Moonbase", "Swift"]

  /// A type name made from any text.
  ///
  /// Words are joined with upper-case first letters. A result that begins with a digit gets the
  /// prefix `Model`.
  static func type(of text: String) -> String {
    let name = words(of: text).map(capitalized).joined()
    return isType(name) ? name : "Model\(name)"
  }

  /// The parts of a text that are valid in a name.
  static func words(of text: String) -> [String] {
    let plain = String(text.unicodeScalars.map { isLetter($0) || isDigitOrMark($0) ? Character($0) : " " })
    return plain.split(separator: " ").map(String.init)
  }

  /// Whether a text can name a type, or a list or map of types: `Shop.Status`, `[Status]`.
  static func isTypeReference(_ text: String) -> Bool {
    let marks: Set<Unicode.Scalar> = [".", "[", "]", "<", ">", ",", ":", " "]
    guard let first = text.unicodeScalars.first, isLetter(first) || first == "[" else { return false }
    return text.unicodeScalars.allSatisfy { isLetter($0) || isDigitOrMark($0) || marks.contains($0) }
  }

  /// A string literal of a text.
  ///
  /// Control characters become escapes such as `\u{7}`.
  static func literal(_ text: String) -> String {
    let parts = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case "\n": "\\n"
      case _ where scalar.value < 32 || scalar.value == 127: "\\u{\(String(scalar.value, radix: 16))}"
      default: String(scalar)
      }
    }
    return "\"\(parts.joined())\""
  }

  /// A text as a single comment line.
  ///
  /// Line breaks of any kind become spaces, so that the comment cannot end early.
  static func comment(_ text: String) -> String {
    String(
      text.unicodeScalars.map { $0.value < 32 || [0x85, 0x2028, 0x2029].contains($0.value) ? " " : Character($0) })
  }
}
