import MoonbaseModel

/// What could not be written as it is: told at the end, on standard error.
struct OutputLosses {
  private var notFinite: [String: Int] = [:]
  private var objects: [String: (className: String, count: Int)] = [:]

  /// A number that JSON has not.
  mutating func noteNotFinite(in column: String) { notFinite[column, default: 0] += 1 }

  /// A value that only the extension which made it can read.
  mutating func note(_ object: OpaqueObject, in column: String) {
    objects[column, default: (object.className, 0)].count += 1
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
