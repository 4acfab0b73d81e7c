public import MoonbasePlatform

/// What went wrong with a model, a predicate or a value, and what to do about it.
///
/// ```swift
/// do { model = try ManagedObjectModel.read(source) } catch {
///   for mistake in error.all { print(mistake) }      // people.lua:7: entity Person, attribute age: there is no type int; ...
/// }
/// ```
public struct ModelError: LocalizedError, Sendable, Equatable, CustomStringConvertible {
  /// A stable number for the kind of error; Core Data's own where it has one.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int
    /// A code from its number.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// The kind of error.
  public var code: Code
  /// A sentence that names what is wrong and what to do.
  public var message: String
  /// The place in a file, where one was read.
  public var location: SourceLocation?
  /// The entity concerned.
  public var entity: String?
  /// The property concerned.
  public var property: String?
  /// What else is wrong with the same model: as much as could be found in one reading, a hundred mistakes at most.
  public var others: [ModelError] = []

  /// An error.
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

  /// The message behind its place, as `file:line: message`; other mistakes follow, each on a line of its own.
  public var description: String {
    ([location.map { "\($0): \(message)" } ?? message] + others.map(\.description)).joined(separator: "\n")
  }

  /// The same, for Foundation: what `localizedDescription` gives.
  public var errorDescription: String? { description }

  /// The error and the others, each alone.
  public var all: [ModelError] {
    var first = self
    first.others = []
    return [first] + others.flatMap(\.all)
  }
}

extension ModelError.Code {
  /// A file cannot be opened or read.
  public static let cannotReadFile = Self(rawValue: 134_001)
  /// A file is not in the form it should be in.
  public static let malformedFile = Self(rawValue: 134_002)
  /// A form of file that is known but not supported, for example a model from before Xcode 4.
  public static let unsupportedForm = Self(rawValue: 134_003)
  /// A model contradicts itself: a name that resolves to nothing, a cycle, a duplicate.
  public static let invalidModel = Self(rawValue: 134_020)
  /// A value does not fit its attribute's type.
  public static let invalidValue = Self(rawValue: 1550)
  /// A predicate or sort key cannot be parsed.
  public static let invalidPredicate = Self(rawValue: 134_004)
  /// A model that is a script passed a limit before it returned anything, or a script that opened a model passed one of its own.
  public static let limitExceeded = Self(rawValue: 134_007)
  /// A model that is a script, or a script that opened a model, was interrupted from outside.
  public static let interrupted = Self(rawValue: 134_008)
  /// A predicate names a key, compares types or uses a to-many key in a way its entity does not allow.
  public static let predicateMismatch = Self(rawValue: 134_005)
  /// A predicate cannot be evaluated: a variable without value, a function without meaning for its arguments.
  public static let evaluation = Self(rawValue: 134_006)
}

/// A place in a file that a person wrote.
public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
  /// The file, as it was named when it was asked for.
  public var file: String
  /// The line, from 1; nil where the form has no lines.
  public var line: Int?

  /// A location.
  public init(file: String, line: Int? = nil) {
    self.file = file
    self.line = line
  }

  /// `file:line`, or the file alone.
  public var description: String { line.map { "\(file):\($0)" } ?? file }
}
