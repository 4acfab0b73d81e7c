import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// A long text or blob that a statement reads in place. SQLite would keep a copy until the next binding.
struct LargeBinding {
  let value: Value
  let index: Int32

  private static let leastCount = 1 << 16

  static func isLarge(_ value: Value) -> Bool {
    switch value {
    case .string(let text): text.utf8.count >= leastCount
    case .data(let data): data.count >= leastCount
    default: false
    }
  }

  /// Runs a statement without result rows. The values are bound only while it runs.
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
