import MoonbaseModel

/// A database's declaration of a column.
///
/// SQLite does not enforce declarations. So the values decide first, and the declaration only
/// chooses among types that keep all values.
struct DeclaredColumn {
  /// The declared type, as written.
  let declaration: String
  /// Whether nulls are forbidden.
  let isRequired: Bool
  /// Whether it is part of a unique key.
  let isKey: Bool

  /// The type: decided by the values, and by the declaration if the values leave it open.
  ///
  /// The second part of the result is the reason in words.
  func type(of profile: ColumnProfile) -> (AttributeType, String) {
    let words = declaration.uppercased()
    // DECIMAL(10,2) and NUMERIC(10,2) give the number of digits after the point.
    let isScaled = (words.contains("DECIMAL(") || words.contains("NUMERIC(")) && words.contains(",")
    func says(_ parts: String...) -> Bool { parts.contains { words.contains($0) } }
    if profile.kinds.isEmpty { return (declaredType, "") }
    let (type, reason) = AttributeGuess.type(of: profile)
    switch type {
    // Two texts may be the same date.
    case .date where isKey: return (.string, "dates, kept as text in a key")
    case .integer64 where says("BOOL") && profile.distinct.few.map(Self.areTruths) == true:
      return (.boolean, "1 and 0, which come back as true and false")
    case .integer64 where isScaled:
      return (.decimal, "numbers without a fraction so far")
    case .decimal where profile.kinds == .number && profile.forms.contains(.number) && !says("DEC", "NUM", "MONEY"):
      return (.double, "numbers")
    case .double
    where profile.kinds == .number && profile.forms.contains(.decimal)
      && (isScaled || says("DEC", "MONEY")):
      return (.decimal, "numbers, all digits of which a decimal keeps")
    default: return (type, reason)
    }
  }

  /// Whether all values are `0` or `1`.
  private static func areTruths(_ values: [[UInt8]]) -> Bool { values.allSatisfy { $0 == [48] || $0 == [49] } }

  /// Based on SQLite's affinity rules.
  private var declaredType: AttributeType {
    let words = declaration.uppercased()
    let types: [(String, AttributeType)] = [
      ("BOOL", .boolean), ("DATE", .date), ("TIMESTAMP", .date), ("INT", .integer64), ("CHAR", .string),
      ("CLOB", .string),
      ("TEXT", .string), ("UUID", .uuid), ("BLOB", .binaryData), ("REAL", .double), ("FLOA", .double),
      ("DOUB", .double),
      ("DEC", .decimal), ("NUM", .decimal), ("MONEY", .decimal),
    ]
    return types.first { words.contains($0.0) }?.1 ?? .string
  }
}
