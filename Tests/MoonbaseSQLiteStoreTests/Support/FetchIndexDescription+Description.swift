public import MoonbaseModel
public import Testing

/// An index as an argument of a test is named by its beginning.
extension FetchIndexDescription: CustomTestStringConvertible {
  public var testDescription: String { "\(name) of \(elements.count) elements" }
}
