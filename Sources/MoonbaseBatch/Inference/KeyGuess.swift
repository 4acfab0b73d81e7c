import MoonbaseModel

/// The attribute that may serve as a key, with distinct values in all rows.
///
/// The key becomes a uniqueness constraint of the inferred entity. It must have a value in each
/// row, and its type must be an integer, a text, a UUID or a URI.
struct KeyGuess {
  /// The attribute; nil if none is likely.
  let key: String?
  /// Comment lines.
  let reasons: [String]

  /// Usual names of keys, the likeliest first. With few rows, distinct values of other attributes prove nothing.
  private static let names = ["id", "uuid", "guid", "key", "code"]
  /// Further names, which are trusted only with many rows.
  private static let others = ["number", "isbn", "email", "username", "login", "name"]
  /// With at least this many rows, distinct values count as evidence.
  private static let fewRows = 10
  /// The types of keys.
  private static let types: Set<AttributeType> = [.integer64, .string, .uuid, .uri]

  /// Chooses among the attributes of an entity with `rows` rows.
  init(_ columns: [(profile: ColumnProfile, attribute: AttributeDescription)], rows: Int) {
    let possible = columns.filter {
      !$0.attribute.isOptional && Self.types.contains($0.attribute.type) && !$0.profile.hasWrongText
        && $0.attribute.validation.allowedValues == nil
    }
    let unique = possible.filter { $0.profile.distinct.areUnique == true }.map(\.attribute.name)
    let unknown = possible.filter { $0.profile.distinct.areUnique == nil }.map(\.attribute.name)
    let key = Self.likeliest(unique, rows: rows)
    var reasons: [String] = []
    if let key {
      reasons.append("\(key) has another value in each of \(rows) rows: objects of one value are refused")
    }
    let rest = unique.filter { $0 != key }
    if !rest.isEmpty {
      reasons.append("each row \(key == nil ? "has" : "also has") another value of: \(Self.list(rest))")
    }
    if !unknown.isEmpty {
      reasons.append("whether values come twice is not known, for there are too many: \(Self.list(unknown))")
    }
    (self.key, self.reasons) = (key, reasons)
  }

  /// At most twelve names, for a comment.
  private static func list(_ names: [String]) -> String {
    names.count <= 12 ? names.joined(separator: ", ") : names.prefix(12).joined(separator: ", ") + ", ..."
  }

  /// The unique attribute with the likeliest name.
  private static func likeliest(_ unique: [String], rows: Int) -> String? {
    let isLarge = rows >= fewRows
    for name in names + (isLarge ? others : []) {
      if let found = unique.first(where: { $0.lowercased() == name }) { return found }
    }
    if let found = unique.first(where: { $0.hasSuffix("Id") || $0.hasSuffix("ID") || $0.hasSuffix("_id") }) {
      return found
    }
    return isLarge ? unique.first : nil
  }
}
