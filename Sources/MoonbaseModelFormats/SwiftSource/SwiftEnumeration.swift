import MoonbaseModel

/// An enumeration of the values that a model allows for an attribute.
struct SwiftEnumeration {
  /// A case: its name without backticks, and its raw value as Swift reads it.
  typealias Case = (name: String, literal: String)

  let cases: [Case]
  /// The name of the type of raw values.
  let rawType: String
  /// The case that stands for a missing value: the default, or the first.
  let missing: String
  /// Texts and numbers whose cases could not have their names.
  let renamed: [Case]

  /// Nil for an attribute that has no list of texts or integers, or for which the model names a type of the program.
  init?(of attribute: AttributeDescription) {
    guard attribute.swiftTypeName == nil, let allowed = attribute.validation.allowedValues,
      let rawType = SwiftType.plain(attribute.type)
    else { return nil }
    var (cases, renamed): ([Case], [Case]) = ([], [])
    var (known, taken) = (Set<String>(), Self.reserved)
    var missing: String?
    for value in allowed {
      let wanted: String
      let literal: String
      switch value {
      case .string(let text): (wanted, literal) = (Self.name(of: text), SwiftName.literal(text))
      case .int(let number): (wanted, literal) = (Self.name(of: number), "\(number)")
      default: return nil
      }
      guard known.insert(literal).inserted else { continue }
      var name = wanted
      while !taken.insert(name).inserted { name += "_" }
      cases.append((name, literal))
      if name != wanted { renamed.append((name, literal)) }
      if value == attribute.defaultValue { missing = name }
    }
    guard let first = cases.first else { return nil }
    (self.cases, self.rawType, self.renamed) = (cases, rawType, renamed)
    self.missing = missing ?? first.name
  }

  /// Equal for enumerations that differ in their names alone.
  var signature: String { "\(rawType) \(missing) \(cases.map { "\($0.name)=\($0.literal)" }.joined(separator: " "))" }

  /// Names that mean something else in an enumeration, or in an optional value.
  private static let reserved: Set<String> = [
    "none", "some", "defaultWhenNull", "rawValue", "allCases", "attributeValue", "read", "putCell", "hash", "hashValue",
    "init",
    "self", "Self", "Type", "Protocol", "encode",
  ]

  private static func name(of number: Int64) -> String { number < 0 ? "minus\(number.magnitude)" : "value\(number)" }

  /// The words of a text as one name: `bestFriend` of `best friend`.
  private static func name(of text: String) -> String {
    let words = SwiftName.words(of: text)
    let name = SwiftName.uncapitalized(words.prefix(1).joined()) + words.dropFirst().map(SwiftName.capitalized).joined()
    if name.isEmpty { return "empty" }
    return SwiftName.isType(name) ? name : "value\(name)"
  }
}
