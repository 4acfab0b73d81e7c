package import MoonbaseModelFormats
package import Testing

/// A model as an argument of a test is named by its beginning.
extension ModelTree: CustomTestStringConvertible {
  package var testDescription: String { String("\(self)".prefix(60)) }
}
