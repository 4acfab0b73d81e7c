package import MoonbaseModel
import MoonbasePlatform

/// Lists, objects and quoted texts in a field of csv, as values for attributes of the default transformer.
package enum JSONText {
  /// The value of a JSON text; nil for plain text.
  ///
  /// A text counts as JSON if its first visible character is `[`, `{` or `"`, and all of it can be
  /// read.
  package static func value(_ text: String) -> Value? {
    guard let first = text.utf8.first(where: { $0 > 32 }), [UInt8]("[{\"".utf8).contains(first) else { return nil }
    var text = text
    return text.withUTF8 { try? Value(json: UnsafeRawBufferPointer($0)) }
  }
}
