public import MoonbaseModel
public import MoonbasePlatform

/// An error between scripts and the graph, with advice.
///
/// ```swift
/// do {
///   _ = try ScriptExtensions([.file(url)], for: model)
/// } catch let error as ScriptError {
///   print(error.location.map { "\($0)" } ?? "", error.message)
/// }
/// ```
public struct ScriptError: LocalizedError, Sendable, CustomStringConvertible, CodedError {
  /// The kind of error.
  public typealias Code = ErrorCode

  /// The kind of error.
  public var code: Code
  /// A sentence that names what is wrong and what to do.
  public var message: String
  /// The place in a script, if known.
  public var location: SourceLocation?
  /// The entity concerned.
  public var entity: String?
  /// The property concerned.
  public var property: String?
  /// Further mistakes of the extensions, found in the same reading; at most a hundred.
  public var others: [ScriptError] = []
  /// The underlying error, for example Lua's error for a file that does not run.
  public var underlying: (any Error)?

  /// Whether the error is a mistake in the program. Scripts raise such errors always.
  public var isMistake: Bool { code.isMistake }

  /// An error with a code and a message.
  public init(
    _ code: Code, message: String, at location: SourceLocation? = nil, entity: String? = nil,
    property: String? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.location = location
    self.entity = entity
    self.property = property
    self.underlying = underlying
  }

  /// The message with its place, as `file:line: message`. Further mistakes follow on lines of their own.
  public var description: String {
    ([location.map { "\($0): \(message)" } ?? message] + others.map(\.description)).joined(separator: "\n")
  }

  /// The error and its `others` as separate errors.
  public var all: [ScriptError] {
    var first = self
    first.others = []
    return [first] + others.flatMap(\.all)
  }

  /// The description, as Foundation's `localizedDescription`.
  public var errorDescription: String? { description }
}
