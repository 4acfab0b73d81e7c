/// A rule of the model that a value breaks.
public struct ValidationFailure: Sendable, Hashable {
  /// Core Data's number for the kind of failure.
  public var code: Int
  /// What is wrong, as the end of a sentence that begins with the property's name.
  public var message: String

  init(_ code: Int, _ message: String) {
    self.code = code
    self.message = message
  }
}
