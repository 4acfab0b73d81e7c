import MoonbaseModelFormats
import Testing

/// A model as an argument of a test is named by its beginning.
extension ModelTree: @retroactive CustomTestStringConvertible {
  public var testDescription: String { String("\(self)".prefix(60)) }
}
