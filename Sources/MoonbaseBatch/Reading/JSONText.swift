package import MoonbaseModel
import MoonbasePlatform

/// Lists, objects and quoted texts in a field of csv. An attribute of the default transformer takes their values.
package enum JSONText {
  /// The value that a text stands for; nil for a plain text.
  package static func value(_ text: String) -> Value? {
    guard let first = text.utf8.first(where: { $0 > 32 }), [UInt8]("[{\"".utf8).contains(first) else { return nil }
    var text = text
    return text.withUTF8 { try? Value(json: UnsafeRawBufferPointer($0)) }
  }
}
