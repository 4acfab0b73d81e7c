import MoonbaseModel

/// Names of properties and entities for columns and tables. Equal inputs give equal names.
struct InferredNames {
  /// The names in use, in lower case, because column names of a store must differ in more than case.
  private var taken: Set<String> = []

  init() {}

  /// Names of properties for columns. A column that is a valid property name keeps its name.
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
    return Identifier.isOne(name) && !RefusedPropertyNames.names.contains(name) && !first.isUppercase
  }

  /// A property name: `First Name` and `FIRST_NAME` become `firstName`.
  static func property(_ name: String) -> String {
    let words = words(of: name)
    let joined = words.prefix(1).joined() + words.dropFirst().map(\.capitalizedFirst).joined()
    let first = joined.first.map { $0.lowercased() } ?? ""
    // A leading abbreviation becomes lower case as a whole.
    let isAbbreviation = words.first.map { $0.count > 1 && $0 == $0.uppercased() } ?? false
    let small = isAbbreviation ? words[0].lowercased() + joined.dropFirst(words[0].count) : first + joined.dropFirst()
    let result = small.isEmpty ? "column" : Identifier.isOne(small) ? small : "column\(small.capitalizedFirst)"
    return RefusedPropertyNames.names.contains(result) ? result + "Value" : result
  }

  /// An entity name: `order_items` becomes `OrderItems`.
  static func entity(_ name: String) -> String {
    let joined = words(of: name).map(\.capitalizedFirst).joined()
    return joined.isEmpty ? "Table" : Identifier.isOne(joined) ? joined : "Table\(joined)"
  }

  private static func words(of name: String) -> [String] {
    let hasSmall = name.contains { $0.isLowercase }
    let words = name.split { !Identifier.isOne("a\($0)") || $0 == "_" }.map(String.init)
    guard !hasSmall, words.count > 1 else { return words }
    return words.map { $0.lowercased() }
  }
}

extension String {
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
