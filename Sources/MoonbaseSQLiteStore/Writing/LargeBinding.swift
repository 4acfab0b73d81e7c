import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// A long text or blob that a statement reads in place. SQLite would keep a copy until the next binding.
///
/// Used for values of at least 64 KiB. The bytes belong to the value, which stays alive while the statement runs.
struct LargeBinding {
  /// A string or data.
  let value: Value
  /// The parameter, from 1.
  let index: Int32

  /// In bytes.
  private static let leastCount = 1 << 16

  /// Values of any other type are never large.
  static func isLarge(_ value: Value) -> Bool {
    switch value {
    case .string(let text): text.utf8.count >= leastCount
    case .data(let data): data.count >= leastCount
    default: false
    }
  }

  /// Runs a statement without result rows. The values are bound only while it runs. Calls itself once for each binding,
  /// since the bytes of a value can be borrowed only within a closure. Afterwards the parameters are NULL.
  static func step(_ statement: Statement, with bindings: ArraySlice<LargeBinding>) throws {
    guard let first = bindings.first else { return _ = try statement.step() }
    defer {
      statement.rewind()
      statement.bindNull(first.index)
    }
    switch first.value {
    case .string(var text):
      try text.withUTF8 { bytes in
        statement.bind(keptText: UnsafeRawBufferPointer(bytes), at: first.index)
        try step(statement, with: bindings.dropFirst())
      }
    case .data(let data):
      try data.withUnsafeBytes { bytes in
        statement.bind(keptBytes: bytes, at: first.index)
        try step(statement, with: bindings.dropFirst())
      }
    default: try step(statement, with: bindings.dropFirst())
    }
  }
}
