import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Errors for a column value that is no value of its attribute.
///
/// The message describes the stored value, for example `holds the text "abc", which is no integer`.
extension ColumnMismatch {
  /// `storage` is the storage class before anything was read: SQLite converts values in place. `wanted` names the
  /// expected kind of value.
  init(_ row: Statement, column: Int32, storage: StorageClass, wanted: String) {
    var hasher = Hasher()
    hasher.combine(storage)
    row.withBytes(column) { hasher.combine(bytes: $0) }
    let digest = hasher.finalize()
    let found =
      switch storage {
      case .blob: "\(row.data(column).count) bytes"
      case .text: row.withBytes(column, Self.found(text:))
      case .integer, .real, .null: row.text(column)
      }
    self.init("holds \(found), which is no \(wanted)", digest: digest)
  }

  /// The error for UTF-16 text with an unpaired surrogate. Only files with UTF-16 text have such values.
  init(malformedUTF16 row: Statement, column: Int32) {
    var hasher = Hasher()
    row.withBytes(column) { hasher.combine(bytes: $0) }
    self.init("holds text that is not UTF-16", digest: hasher.finalize())
  }

  /// At most 60 characters, or the first 20 bytes of invalid UTF-8.
  private static func found(text bytes: UnsafeRawBufferPointer) -> String {
    if !bytes.isUTF8 {
      let shown = bytes.prefix(20).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
      return "text whose bytes (\(shown)\(bytes.count > 20 ? " ..." : "")) are not UTF-8"
    }
    return "the text \(String(decoding: bytes.prefix(240), as: UTF8.self).prefix(60).debugDescription)"
  }
}
