/// A stable number for a kind of error, shared by errors of models, of the graph and of scripts.
///
/// All numbers are assigned in this file. They are Core Data's where it has a number for the kind. Others come from
/// parts of its range that it does not use, from 134001 and from 135001. `docs/errors.md` lists them all. A validation
/// rule may throw an error with a number of its own.
///
/// ```swift
/// do {
///   try context.save()
/// } catch let error as GraphError where error.code == .mergeConflict {
///   // Another context saved the object meanwhile.
/// }
/// ```
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
  /// The number.
  public let rawValue: Int

  /// Makes a code from its number.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Whether the error is a mistake in the program: a request that is impossible regardless of the data. Scripts always
  /// raise such errors. All other errors are returned as `nil, err` by calls that document so, such as `save`.
  public var isMistake: Bool { Self.mistakes.contains(self) }

  /// Whether a rule of the model or of an extension refused a value, an object or a deletion. `extensionFailure` is
  /// neither a validation error nor a mistake of the program: the extension is broken.
  public var isValidation: Bool { (1550...1680).contains(rawValue) }

  /// Whether the error ends the run of a script, so that it must reach the program that started the script.
  package var endsRun: Bool { self == .limitExceeded || self == .interrupted }

  /// Whether the store failed as a whole, so that the error concerns no single object or row.
  package var isOfStore: Bool { Self.storeFailures.contains(self) }

  /// The codes of failures of a whole store.
  private static let storeFailures: Set = [
    storeFailure, storeBusy, readOnlyStore, invalidStore, cannotOpenFile, incompatibleSchema,
  ]
  /// The codes of mistakes in the program.
  private static let mistakes: Set = [
    unknownName, invalidValue, invalidObject, invalidRequest, recursiveSave, contextBusy, externalRelationship,
    invalidPredicate, predicateMismatch, evaluation, invalidModel, invalidExtension, extensionConflict,
  ]
}

/// Errors of validation and saving.
extension ErrorCode {
  /// A rule of the model or of an extension refused a value or an object.
  public static let validation = Self(rawValue: 1550)
  /// Several failures; see the error's `details`.
  public static let multipleErrors = Self(rawValue: 1560)
  /// A required value is missing.
  public static let missingMandatoryProperty = Self(rawValue: 1570)
  /// A relationship has too few destinations.
  public static let relationshipLacksMinimumCount = Self(rawValue: 1580)
  /// A relationship has too many destinations.
  public static let relationshipExceedsMaximumCount = Self(rawValue: 1590)
  /// A delete rule refused a deletion.
  public static let relationshipDeniedDelete = Self(rawValue: 1600)
  /// A number is above its attribute's maximum.
  public static let numberTooLarge = Self(rawValue: 1610)
  /// A number is below its attribute's minimum.
  public static let numberTooSmall = Self(rawValue: 1620)
  /// A date is after its attribute's last one.
  public static let dateTooLate = Self(rawValue: 1630)
  /// A date is before its attribute's first one.
  public static let dateTooSoon = Self(rawValue: 1640)
  /// A text has more characters than its attribute allows.
  public static let stringTooLong = Self(rawValue: 1660)
  /// A text has fewer characters than its attribute asks for.
  public static let stringTooShort = Self(rawValue: 1670)
  /// A text does not match its attribute's regular expression.
  public static let stringPatternMatching = Self(rawValue: 1680)
  /// A shared value was changed in place, so the change would be lost (`detectsInPlaceMutation`).
  public static let changedInPlace = Self(rawValue: 134_045)
}

/// Errors about impossible requests and invalid names, values, predicates and models.
extension ErrorCode {
  /// An entity, property or template that does not exist.
  public static let unknownName = Self(rawValue: 134_047)
  /// A value does not fit its property or parameter.
  public static let invalidValue = Self(rawValue: 134_041)
  /// An object was used in another context, after its context was released, or after its deletion.
  public static let invalidObject = Self(rawValue: 134_042)
  /// The request asks for an impossible operation.
  public static let invalidRequest = Self(rawValue: 134_044)
  /// A save, reset, rollback or refresh was requested while the same context saves.
  public static let recursiveSave = Self(rawValue: 132_001)
  /// A hook requested an operation that is not allowed while the context runs hooks.
  public static let contextBusy = Self(rawValue: 134_046)
  /// The container was closed, as a program does that ends.
  public static let containerClosed = Self(rawValue: 134_048)
  /// A relationship was to lead from one store to another.
  public static let externalRelationship = Self(rawValue: 133_010)
  /// A predicate or sort key cannot be parsed.
  public static let invalidPredicate = Self(rawValue: 134_004)
  /// A predicate uses an unknown key, compares incompatible types or uses a to-many key without a quantifier.
  public static let predicateMismatch = Self(rawValue: 134_005)
  /// A predicate cannot be evaluated, because a variable has no value or a function does not accept its arguments.
  public static let evaluation = Self(rawValue: 134_006)
  /// A model is inconsistent: an unresolved name, a cycle or a duplicate.
  public static let invalidModel = Self(rawValue: 134_009)
  /// An extension file does not return a table in the documented form.
  public static let invalidExtension = Self(rawValue: 135_002)
  /// Two extensions provide the same transformer, class or derived attribute, or a required extension is missing.
  public static let extensionConflict = Self(rawValue: 135_003)
}

/// Errors from files, stores and other processes.
extension ErrorCode {
  /// A file does not exist, is not a regular file, or cannot be opened or read.
  public static let cannotOpenFile = Self(rawValue: 256)
  /// A script is larger than the limit.
  public static let sourceTooLarge = Self(rawValue: 263)
  /// A file does not have the expected format.
  public static let malformedFile = Self(rawValue: 134_002)
  /// A text does not have the requested form, for example that of a date.
  public static let malformedText = Self(rawValue: 2048)
  /// A file format is known but not supported, for example a model from before Xcode 4.
  public static let unsupportedForm = Self(rawValue: 134_003)
  /// The store was opened read-only, or its file cannot be written.
  public static let readOnlyStore = Self(rawValue: 513)
  /// The object is not in the store, or no longer.
  public static let objectNotFound = Self(rawValue: 133_000)
  /// The store holds another version of an object than the context saw.
  public static let mergeConflict = Self(rawValue: 133_020)
  /// A uniqueness constraint is violated.
  public static let constraintConflict = Self(rawValue: 133_021)
  /// The file is not a store of this kind.
  public static let invalidStore = Self(rawValue: 134_000)
  /// No open store can hold an object of its entity.
  public static let incompatibleSchema = Self(rawValue: 134_020)
  /// Reading or writing the store failed.
  public static let storeFailure = Self(rawValue: 134_030)
  /// Another process writes to the store; trying again may help.
  public static let storeBusy = Self(rawValue: 134_031)
  /// A requested part of the history has been deleted.
  public static let historyTokenExpired = Self(rawValue: 134_301)
  /// The model does not fit the store.
  public static let incompatibleVersionHash = Self(rawValue: 134_100)
  /// A store was not migrated, because data would be lost: Core Data's `NSMigrationError`.
  public static let migrationLoss = Self(rawValue: 134_110)
  /// The model with which a store was written is unknown, so the store cannot be migrated: Core Data's
  /// `NSMigrationMissingSourceModelError`.
  public static let missingSourceModel = Self(rawValue: 134_130)
  /// A store may be migrated, but no mapping was given and inferring a mapping is disabled: Core Data's
  /// `NSMigrationMissingMappingModelError`.
  public static let missingMappingModel = Self(rawValue: 134_140)
  /// No mapping can be inferred from the two models: Core Data's `NSInferredMappingModelError`.
  public static let cannotInferMapping = Self(rawValue: 134_190)
}

/// Errors from extensions and limits.
extension ErrorCode {
  /// A transformer, value class, rule or hook failed or is missing, or the body of a script's transaction raised a
  /// text.
  public static let extensionFailure = Self(rawValue: 134_043)
  /// A function of an extension exceeded the extension's limits. The calling operation failed.
  public static let extensionLimit = Self(rawValue: 135_004)
  /// An extension is disabled, because a function of the extension exceeded its limits.
  public static let extensionDisabled = Self(rawValue: 135_005)
  /// A script, or a model that is a script, exceeded a limit.
  public static let limitExceeded = Self(rawValue: 134_007)
  /// A script, or a model that is a script, was interrupted from outside.
  public static let interrupted = Self(rawValue: 134_008)
}
