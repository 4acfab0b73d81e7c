public import MoonbaseModel
public import MoonbasePlatform

/// What went wrong with objects, contexts or stores, and what to do about it.
public struct GraphError: LocalizedError, Sendable, CustomStringConvertible {
  /// A stable number for the kind of error; Core Data's own where it has one.
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

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, entity: String? = nil, property: String? = nil, objectID: ManagedObjectID? = nil,
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

extension GraphError.Code {
  /// A rule of an extension or a hook refused an object.
  public static let validation = Self(rawValue: 1550)
  /// Several failures; see `details`.
  public static let multipleErrors = Self(rawValue: 1560)
  /// A required value is missing.
  public static let missingMandatoryProperty = Self(rawValue: 1570)
  /// A relationship has too few destinations.
  public static let relationshipLacksMinimumCount = Self(rawValue: 1580)
  /// A relationship has too many destinations.
  public static let relationshipExceedsMaximumCount = Self(rawValue: 1590)
  /// A delete rule refused a deletion.
  public static let relationshipDeniedDelete = Self(rawValue: 1600)
  /// A file is not there, cannot be opened or is no file.
  public static let cannotOpenFile = Self(rawValue: 256)
  /// The store was opened read-only, or its file cannot be written.
  public static let readOnlyStore = Self(rawValue: 513)
  /// A save, reset, rollback or refresh was asked for while the same context saves.
  public static let recursiveSave = Self(rawValue: 132_001)
  /// The object is not in the store (any more).
  public static let objectNotFound = Self(rawValue: 133_000)
  /// The store holds another version of an object than the context saw.
  public static let mergeConflict = Self(rawValue: 133_020)
  /// A uniqueness constraint is violated.
  public static let constraintConflict = Self(rawValue: 133_021)
  /// The file is not a store of this kind.
  public static let invalidStore = Self(rawValue: 134_000)
  /// The model does not fit the store.
  public static let incompatibleVersionHash = Self(rawValue: 134_100)
  /// Reading or writing the store failed.
  public static let storeFailure = Self(rawValue: 134_030)
  /// Another process writes to the store; trying again may help.
  public static let storeBusy = Self(rawValue: 134_031)
  /// An entity, property or key that does not exist.
  public static let unknownName = Self(rawValue: 134_040)
  /// A value that a property cannot take.
  public static let invalidValue = Self(rawValue: 134_041)
  /// An object was used after its context is gone, in another context, or after its deletion.
  public static let invalidObject = Self(rawValue: 134_042)
  /// A transformer, value class or extension failed or is missing.
  public static let extensionFailure = Self(rawValue: 134_043)
  /// A value was changed in place where it is shared, so that the change would be lost (`findsValuesChangedInPlace`).
  public static let changedInPlace = Self(rawValue: 134_045)
  /// A hook asked for what cannot be done while the context runs it.
  public static let contextBusy = Self(rawValue: 134_046)
  /// The request asks for something that cannot be done.
  public static let invalidRequest = Self(rawValue: 134_044)
}
