public import MoonbaseModel
public import MoonbasePlatform

/// An error of objects, contexts or stores, with advice to fix it.
///
/// ```swift
/// do {
///   try context.save()
/// } catch let error as GraphError where error.code == .validation {
///   print(error.entity ?? "", error.property ?? "", error.message)
/// }
/// ```
public struct GraphError: LocalizedError, Sendable, CustomStringConvertible, CodedError {
  /// The kind of error; all codes are listed in `ErrorCode`.
  public typealias Code = ErrorCode

  /// The kind of error.
  public var code: Code
  /// A sentence that names what is wrong and what to do.
  public var message: String
  /// The reason alone, as a phrase that follows the names of entity and property; nil where `message` says everything.
  public var reason: String?
  /// The entity concerned.
  public var entity: String?
  /// The property concerned.
  public var property: String?
  /// The object concerned.
  public var objectID: ManagedObjectID?
  /// The value that was refused.
  public var value: Value?
  /// The single failures of a `.multipleErrors`, or the conflicts of a refused save.
  public var details: [GraphError] = []
  /// The error that caused this error.
  public var underlying: (any Error)?

  /// Whether a hook or an earlier assignment caused the error, and not the failed call itself.
  private var isCausedElsewhere = false

  /// Whether the error is a mistake of the calling program, and not of data, another program or an extension.
  ///
  /// Scripts always raise mistakes. Calls like `save` return errors of any other kind as `nil, err`.
  public var isMistake: Bool { code.isMistake && !isCausedElsewhere }

  /// A copy of the error for a caller that made no mistake, for example of `save`, when a hook or a rule failed.
  package var causedElsewhere: GraphError {
    var copy = self
    copy.isCausedElsewhere = true
    return copy
  }

  /// Makes an error.
  public init(
    _ code: Code, message: String, entity: String? = nil, property: String? = nil, objectID: ManagedObjectID? = nil,
    value: Value? = nil, details: [GraphError] = [], underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.entity = entity
    self.property = property
    self.objectID = objectID
    self.value = value
    self.details = details
    self.underlying = underlying
  }

  /// The message, followed by one line for each detail.
  public var description: String {
    ([message] + details.map { "  \($0.message)" }).joined(separator: "\n")
  }

  /// The description, for Foundation's `localizedDescription`.
  public var errorDescription: String? { description }
}
