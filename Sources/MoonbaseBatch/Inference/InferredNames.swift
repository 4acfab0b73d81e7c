import MoonbaseModel

/// Names of properties and entities for columns and tables. Equal inputs give equal names.
///
/// A value keeps the names of one scope: the entities of a model, or the properties of an entity.
struct InferredNames {
  /// The names in use, in lower case, because column names of a store must differ in more than case.
  private var taken: Set<String> = []

  /// A scope without names.
  init() {}

  /// Names of properties for columns. A column that is a valid property name keeps its name.
  ///
  /// The columns that keep their names come first, so that no derived name takes one of them.
  mutating func properties(_ columns: [String]) -> [String] {
    var names = [String?](repeating: nil, count: columns.count)
    for (index, column) in columns.enumerated() where Self.isProperty(column) {
      if taken.insert(column.lowercased()).inserted { names[index] = column }
    }
    return columns.indices.map { names[$0] ?? unique(Self.property(columns[$0])) }
  }

  /// An unused name: this name, or with a number appended.
  mutating func unique(_ name: String) -> String {
    var (result, number) = (name, 1)
    while !taken.insert(result.lowercased()).inserted {
      number += 1
      result = "\(name)\(number)"
    }
    return result
  }

  /// Whether a name is a valid property name.
  private static func isProperty(_ name: String) -> Bool {
    guard let first = name.first, first != "_" else { return false }
    return Identifier.isValid(name) && !RefusedPropertyNames.names.contains(name) && !first.isUppercase
  }

  /// A property name: `First Name` and `FIRST_NAME` become `firstName`.
  ///
  /// A name that Lua or the graph reserves gets the suffix `Value`.
  static func property(_ name: String) -> String {
    let words = words(of: name)
    let joined = words.prefix(1).joined() + words.dropFirst().map(\.capitalizedFirst).joined()
    let first = joined.first.map { $0.lowercased() } ?? ""
    // A leading abbreviation becomes lower case as a whole.
    let isAbbreviation = words.first.map { $0.count > 1 && $0 == $0.uppercased() } ?? false
    let small = isAbbreviation ? words[0].lowercased() + joined.dropFirst(words[0].count) : first + joined.dropFirst()
    let result = small.isEmpty ? "column" : Identifier.isValid(small) ? small : "column\(small.capitalizedFirst)"
    return RefusedPropertyNames.names.contains(result) ? result + "Value" : result
  }

  /// An entity name: `order_items` becomes `OrderItems`.
  static func entity(_ name: String) -> String {
    let joined = words(of: name).map(\.capitalizedFirst).joined()
    return joined.isEmpty ? "Table" : Identifier.isValid(joined) ? joined : "Table\(joined)"
  }

  /// The words of a name, split at punctuation and underscores. A name in capitals only becomes
  /// lower case.
  private static func words(of name: String) -> [String] {
    let hasSmall = name.contains { $0.isLowercase }
    let words = name.split { !Identifier.isValid("a\($0)") || $0 == "_" }.map(String.init)
    guard !hasSmall, words.count > 1 else { return words }
    return words.map { $0.lowercased() }
  }
}

extension String {
  /// The text with its first character in upper case.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
