public import MoonbaseModel
public import Testing

/// Names an index in the arguments of a test by its name and size.
extension FetchIndexDescription: CustomTestStringConvertible {
  public var testDescription: String { "\(name) of \(elements.count) elements" }
}
