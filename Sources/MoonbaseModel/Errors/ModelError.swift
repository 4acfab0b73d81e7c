public import MoonbasePlatform

/// What went wrong with a model, a predicate or a value, and what to do about it.
///
/// ```swift
/// do { model = try ManagedObjectModel.read(source) } catch {
///   for mistake in error.all { print(mistake) }      // people.lua:7: entity Person, attribute age: there is no type int; ...
/// }
/// ```
public struct ModelError: LocalizedError, Sendable, Equatable, CustomStringConvertible, CodedError {
  /// The kind of error, from the one register of them.
  public typealias Code = ErrorCode

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

  /// Whether it is a mistake of the program: scripts raise it everywhere.
  public var isMistake: Bool { code.isMistake }

  /// Makes an error.
  public init(
    _ code: Code, message: String, at location: SourceLocation? = nil, entity: String? = nil,
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
