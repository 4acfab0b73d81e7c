import MoonbaseModel
import Testing

/// An index as an argument of a test is named by its beginning.
extension FetchIndexDescription: @retroactive CustomTestStringConvertible {
  public var testDescription: String { "\(name) of \(elements.count) elements" }
}
