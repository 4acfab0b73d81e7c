package import MoonbaseModel
package import Testing

/// An index as an argument of a test is named by its beginning.
extension FetchIndexDescription: CustomTestStringConvertible {
  package var testDescription: String { "\(name) of \(elements.count) elements" }
}
