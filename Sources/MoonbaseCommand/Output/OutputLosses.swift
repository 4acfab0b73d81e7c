import MoonbaseModel

/// Values that could not be written exactly. They are reported at the end, on standard error.
///
/// Values are counted by column, so that the report has one line per column and kind.
struct OutputLosses {
  /// The number of values per column that JSON replaces by null.
  private var notFinite: [String: Int] = [:]
  /// For each column, the number of values that an import would read as texts, and their kinds.
  private var texts: [String: (count: Int, kinds: Set<String>)] = [:]
  /// The class and the number of opaque values per column.
  private var objects: [String: (className: String, count: Int)] = [:]

  /// Records a number that JSON does not have.
  ///
  /// An example is the result of a division by zero.
  mutating func noteNotFinite(in column: String) { notFinite[column, default: 0] += 1 }

  /// Records a value that only the extension which created it can read.
  ///
  /// - Parameters:
  ///   - object: The value.
  ///   - column: The name of the column.
  mutating func note(_ object: OpaqueObject, in column: String) {
    objects[column, default: (object.className, 0)].count += 1
  }

  /// Records a value of the default transformer if the file can only contain it as text. The transformer itself keeps
  /// the type of a value.
  ///
  /// - Parameters:
  ///   - value: The value of a transformable attribute.
  ///   - column: The name of the column.
  ///   - isJSON: Whether the output is JSON, which keeps numbers and Booleans.
  mutating func noteTexts(in value: Value, column: String, isJSON: Bool) {
    var kinds: Set<String> = []
    Self.collect(value, isJSON: isJSON, &kinds)
    guard !kinds.isEmpty else { return }
    texts[column, default: (0, [])].count += 1
    texts[column]?.kinds.formUnion(kinds)
  }

  /// Adds the kinds of all values inside a value.
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

  /// Messages about values that an import of the file would read with another type.
  var changes: [String] {
    texts.sorted { $0.key < $1.key }.map { column, found in
      "\(Self.place(column))\(found.kinds.sorted().joined(separator: ", ")) in \(found.count) value\(found.count == 1 ? "" : "s") "
        + "are written as texts, and an import takes them for such: export --all keeps them"
    }
  }

  /// The phrase for a column. If the output is a single value, there is no column.
  private static func place(_ column: String) -> String { column.isEmpty ? "" : "\(column): " }

  /// The messages about values that the output does not contain.
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
