public import MoonbaseModel
public import MoonbasePlatform

/// What went wrong between scripts and the graph, and what to do about it.
///
/// ```swift
/// do {
///   _ = try ScriptExtensions([.file(url)], for: model)
/// } catch let error as ScriptError {
///   print(error.location.map { "\($0)" } ?? "", error.message)
/// }
/// ```
public struct ScriptError: LocalizedError, Sendable, CustomStringConvertible, CodedError {
  /// The kind of error, from the one register of them.
  public typealias Code = ErrorCode

  /// The kind of error.
  public var code: Code
  /// A sentence that names what is wrong and what to do.
  public var message: String
  /// The place in a script, where it is known.
  public var location: SourceLocation?
  /// The entity concerned.
  public var entity: String?
  /// The property concerned.
  public var property: String?
  /// The other mistakes of the same extensions that one reading found, a hundred at most.
  public var others: [ScriptError] = []
  /// The error behind this one, for example the error of Lua for a file that does not run.
  public var underlying: (any Error)?

  /// Whether it is a mistake of the program: scripts raise it everywhere.
  public var isMistake: Bool { code.isMistake }

  /// Makes an error.
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

  /// The message behind its place, as `file:line: message`. Further mistakes follow, each on its own line.
  public var description: String {
    ([location.map { "\($0): \(message)" } ?? message] + others.map(\.description)).joined(separator: "\n")
  }

  /// The error and the others, each alone.
  public var all: [ScriptError] {
    var first = self
    first.others = []
    return [first] + others.flatMap(\.all)
  }

  /// The same, for Foundation: what `localizedDescription` gives.
  public var errorDescription: String? { description }
}
