public import MoonbaseModel
public import MoonbasePlatform

/// What went wrong between scripts and the graph, and what to do about it.
public struct ScriptError: LocalizedError, Sendable, CustomStringConvertible {
  /// A stable number for the kind of error.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int
    /// Makes a code from its number.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

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

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, at location: SourceLocation? = nil, entity: String? = nil,
    property: String? = nil
  ) {
    self.code = code
    self.message = message
    self.location = location
    self.entity = entity
    self.property = property
  }

  /// The message behind its place, as `file:line: message`.
  public var description: String { location.map { "\($0): \(message)" } ?? message }

  /// The same, for Foundation: what `localizedDescription` gives.
  public var errorDescription: String? { description }
}

extension ScriptError.Code {
  /// A script cannot be opened or read.
  public static let cannotReadFile = Self(rawValue: 135_001)
  /// A source is larger than the limit.
  public static let sourceTooLarge = Self(rawValue: 135_006)
  /// An extension file does not return a table of the form that the script contract asks for.
  public static let invalidExtension = Self(rawValue: 135_002)
  /// Two extensions provide the same transformer, class or derived attribute, or one that is required is missing.
  public static let extensionConflict = Self(rawValue: 135_003)
  /// A value cannot cross between Lua and the graph.
  public static let invalidValue = Self(rawValue: 135_004)
  /// A script asked for something that cannot be done.
  public static let invalidRequest = Self(rawValue: 135_005)
}
