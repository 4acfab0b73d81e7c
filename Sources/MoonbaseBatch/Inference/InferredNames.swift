import MoonbaseModel

/// Names for columns and tables that are no names of properties and entities, the same for the same input.
struct InferredNames {
  /// The names that are taken. A store has columns that differ in more than capitals.
  private var taken: Set<String> = []

  init() {}

  /// Names of properties for columns: a column that is one already keeps its name, whatever the others are called.
  mutating func properties(_ columns: [String]) -> [String] {
    var names = [String?](repeating: nil, count: columns.count)
    for (index, column) in columns.enumerated() where Self.isProperty(column) {
      if taken.insert(column.lowercased()).inserted { names[index] = column }
    }
    return columns.indices.map { names[$0] ?? unique(Self.property(columns[$0])) }
  }

  /// A name that is not taken yet: this one, or with a number.
  mutating func unique(_ name: String) -> String {
    var (result, number) = (name, 1)
    while !taken.insert(result.lowercased()).inserted {
      number += 1
      result = "\(name)\(number)"
    }
    return result
  }

  /// Whether a name is that of a property as it is.
  private static func isProperty(_ name: String) -> Bool {
    guard let first = name.first, first != "_" else { return false }
    return Identifier.isOne(name) && !RefusedPropertyNames.names.contains(name) && !first.isUppercase
  }

  /// `First Name` and `FIRST_NAME` are `firstName`.
  static func property(_ name: String) -> String {
    let words = words(of: name)
    let joined = words.prefix(1).joined() + words.dropFirst().map(\.capitalizedFirst).joined()
    let first = joined.first.map { $0.lowercased() } ?? ""
    // An abbreviation at the beginning is small as a whole.
    let isAbbreviation = words.first.map { $0.count > 1 && $0 == $0.uppercased() } ?? false
    let small = isAbbreviation ? words[0].lowercased() + joined.dropFirst(words[0].count) : first + joined.dropFirst()
    let result = small.isEmpty ? "column" : Identifier.isOne(small) ? small : "column\(small.capitalizedFirst)"
    return RefusedPropertyNames.names.contains(result) ? result + "Value" : result
  }

  /// `order_items` is `OrderItems`.
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
