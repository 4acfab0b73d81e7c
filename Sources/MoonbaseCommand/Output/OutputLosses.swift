import MoonbaseModel

/// What could not be written as it is: told at the end, on standard error.
struct OutputLosses {
  private var notFinite: [String: Int] = [:]
  /// How many values of a column a reader takes for texts, and of which kinds they are.
  private var texts: [String: (count: Int, kinds: Set<String>)] = [:]
  private var objects: [String: (className: String, count: Int)] = [:]

  /// A number that JSON has not.
  mutating func noteNotFinite(in column: String) { notFinite[column, default: 0] += 1 }

  /// A value that only the extension which made it can read.
  mutating func note(_ object: OpaqueObject, in column: String) {
    objects[column, default: (object.className, 0)].count += 1
  }

  /// A value of the default transformer, which keeps what it is given, where a file has only texts for it.
  mutating func noteTexts(in value: Value, column: String, isJSON: Bool) {
    var kinds: Set<String> = []
    Self.collect(value, isJSON: isJSON, &kinds)
    guard !kinds.isEmpty else { return }
    texts[column, default: (0, [])].count += 1
    texts[column]?.kinds.formUnion(kinds)
  }

  private static func collect(_ value: Value, isJSON: Bool, _ kinds: inout Set<String>) {
    switch value {
    case .date: kinds.insert("dates")
    case .decimal: kinds.insert("decimals")
    case .data: kinds.insert("bytes")
    case .uuid: kinds.insert("UUIDs")
    case .uri: kinds.insert("URIs")
    case .int, .double: if !isJSON { kinds.insert("numbers") }
    case .bool: if !isJSON { kinds.insert("truth values") }
    case .list(let list): for element in list { collect(element, isJSON: true, &kinds) }
    case .map(let map): for element in map.values { collect(element, isJSON: true, &kinds) }
    case .null, .string, .objectID, .object: break
    }
  }

  /// Values that an import of the file would read as values of another type.
  var changes: [String] {
    texts.sorted { $0.key < $1.key }.map { column, found in
      "\(Self.place(column))\(found.kinds.sorted().joined(separator: ", ")) in \(found.count) value\(found.count == 1 ? "" : "s") "
        + "are written as texts, and an import takes them for such: export --all keeps them"
    }
  }

  /// A value that is all there is has no column.
  private static func place(_ column: String) -> String { column.isEmpty ? "" : "\(column): " }

  var messages: [String] {
    notFinite.sorted { $0.key < $1.key }.map { column, count in
      "\(Self.place(column))\(count) number\(count == 1 ? " is" : "s are") not finite, and null in JSON, which has only finite ones"
    }
      + objects.sorted { $0.key < $1.key }.map { column, found in
        "\(Self.place(column))\(found.count) value\(found.count == 1 ? "" : "s") of class \(found.className) "
          + "\(found.count == 1 ? "is" : "are") shown by the class alone; without --extension the stored bytes are written"
      }
  }
}
