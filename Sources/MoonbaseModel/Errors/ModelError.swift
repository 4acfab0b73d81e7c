public import MoonbasePlatform

/// An error about a model, a predicate or a value, with advice.
///
/// ```swift
/// do { model = try ManagedObjectModel.read(source) } catch {
///   // people.lua:7: entity Person, attribute age: there is no type int; ...
///   for mistake in error.all { print(mistake) }
/// }
/// ```
public struct ModelError: LocalizedError, Sendable, Equatable, CustomStringConvertible, CodedError {
  /// The kind of error.
  public typealias Code = ErrorCode

  /// The kind of error.
  public var code: Code
  /// A sentence that names what is wrong and what to do.
  public var message: String
  /// The place in a file; nil if the error does not concern a file.
  public var location: SourceLocation?
  /// The entity concerned.
  public var entity: String?
  /// The property concerned.
  public var property: String?
  /// Further mistakes in the model, found in the same reading; at most a hundred.
  public var others: [ModelError] = []

  /// Whether the error is a mistake in the program. Scripts raise such errors always.
  public var isMistake: Bool { code.isMistake }

  /// An error with a code and a message.
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

  /// The message with its place, as `file:line: message`. Further mistakes follow on lines of their own.
  public var description: String {
    ([location.map { "\($0): \(message)" } ?? message] + others.map(\.description)).joined(separator: "\n")
  }

  /// The description, as Foundation's `localizedDescription`.
  public var errorDescription: String? { description }

  /// The error and its `others` as separate errors.
  public var all: [ModelError] {
    var first = self
    first.others = []
    return [first] + others.flatMap(\.all)
  }
}

/// A place in a file written by a person.
public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
  /// The file, under the name by which the caller opened it.
  public var file: String
  /// The line, from 1; nil for a format without lines.
  public var line: Int?

  /// A location.
  public init(file: String, line: Int? = nil) {
    self.file = file
    self.line = line
  }

  /// `file:line`, or the file alone.
  public var description: String { line.map { "\(file):\($0)" } ?? file }
}
