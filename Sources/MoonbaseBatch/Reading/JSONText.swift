package import MoonbaseModel
import MoonbasePlatform

/// Lists, objects and quoted texts in the text of a field of csv, which an attribute of the default transformer takes as what they are.
package enum JSONText {
  /// What a text says; nil for one that stands for itself.
  package static func value(_ text: String) -> Value? {
    guard let first = text.utf8.first(where: { $0 > 32 }), [UInt8]("[{\"".utf8).contains(first) else { return nil }
    var text = text
    return text.withUTF8 { try? Value(json: UnsafeRawBufferPointer($0)) }
  }
}
