import MoonbaseModel

/// An enumeration of an attribute's allowed values.
///
/// For example, `one_of = { "draft", "sent" }` becomes an enumeration with the cases `draft` and
/// `sent`.
struct SwiftEnumeration {
  /// A case: its name without backticks, and its raw value as a Swift literal.
  typealias Case = (name: String, literal: String)

  /// The cases, in the order of the allowed values.
  let cases: [Case]
  /// The raw type.
  let rawType: String
  /// The case for a missing value: the default, or the first case.
  let missing: String
  /// The values with changed case names.
  let renamed: [Case]

  /// Returns nil for an attribute without a list of texts or integers, and for an attribute with a declared Swift type.
  ///
  /// Values that occur twice are omitted. Case names that collide get underscores.
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

  /// A text that is equal for enumerations that differ only in name.
  var signature: String { "\(rawType) \(missing) \(cases.map { "\($0.name)=\($0.literal)" }.joined(separator: " "))" }

  /// Names with another meaning in an enumeration or an optional.
  private static let reserved: Set<String> = [
    "none", "some", "defaultWhenNull", "rawValue", "allCases", "attributeValue", "read", "putCell", "hash", "hashValue",
    "init",
    "self", "Self", "Type", "Protocol", "encode",
  ]

  /// The case name of an integer: `value3` or `minus3`.
  private static func name(of number: Int64) -> String { number < 0 ? "minus\(number.magnitude)" : "value\(number)" }

  /// A case name from the words of a text: `bestFriend` for `best friend`.
  ///
  /// A text without letters becomes `empty`.
  private static func name(of text: String) -> String {
    let words = SwiftName.words(of: text)
    let name = SwiftName.uncapitalized(words.prefix(1).joined()) + words.dropFirst().map(SwiftName.capitalized).joined()
    if name.isEmpty { return "empty" }
    return SwiftName.isType(name) ? name : "value\(name)"
  }
}
