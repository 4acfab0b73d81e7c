public import MoonbaseModelFormats
public import Testing

/// A model as an argument of a test is named by its beginning.
extension ModelTree: CustomTestStringConvertible {
  public var testDescription: String { String("\(self)".prefix(60)) }
}
