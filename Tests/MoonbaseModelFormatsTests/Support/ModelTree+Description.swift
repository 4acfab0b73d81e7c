public import MoonbaseModelFormats
public import Testing

/// Names a model in the arguments of a test by its first characters.
extension ModelTree: CustomTestStringConvertible {
  public var testDescription: String { String("\(self)".prefix(60)) }
}
