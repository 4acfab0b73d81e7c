public import MoonbaseModel
public import MoonbasePlatform

/// What went wrong with objects, contexts or stores, and what to do about it.
///
/// ```swift
/// do {
///   try context.save()
/// } catch let error as GraphError where error.code == .validation {
///   print(error.entity ?? "", error.property ?? "", error.message)
/// }
/// ```
public struct GraphError: LocalizedError, Sendable, CustomStringConvertible, CodedError {
  /// The kind of error, from the one register of them.
  public typealias Code = ErrorCode

  /// The kind of error.
  public var code: Code
  /// A sentence that names what is wrong and what to do.
  public var message: String
  /// What is wrong, as a phrase that follows the name of entity and property; nil where `message` is all there is.
  public var reason: String?
  /// The entity concerned.
  public var entity: String?
  /// The property concerned.
  public var property: String?
  /// The object concerned.
  public var objectID: ManagedObjectID?
  /// The value that was refused.
  public var value: Value?
  /// Each failure, where several were collected (`.multipleErrors`), and the conflicts of a refused save.
  public var details: [GraphError] = []
  /// The error behind this one.
  public var underlying: (any Error)?

  /// Whether what it tells of was done elsewhere, by a hook or before a save, and not by asking for what failed.
  private var isOfOthers = false

  /// Whether it is a mistake of the program that got it, and not one of data, of other programs or of an extension: scripts raise
  /// it everywhere, and get others as `nil, err` from calls like `save` that promise so.
  public var isMistake: Bool { code.isMistake && !isOfOthers }

  /// The error for a caller that did nothing wrong: to save is no mistake, whatever hooks, rules and assignments did.
  package var ofOthers: GraphError {
    var copy = self
    copy.isOfOthers = true
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

  /// The same, for Foundation: what `localizedDescription` gives.
  public var errorDescription: String? { description }
}
