/// The name of a code, for logs and messages.
extension ErrorCode: CustomStringConvertible {
  /// The code's name and number, as `mergeConflict (133020)`. A code defined by a validation rule has a number only.
  public var description: String { name.map { "\($0) (\(rawValue))" } ?? "\(rawValue)" }

  /// The name of the static member; nil for a number that a program defines itself.
  public var name: String? { Self.names[self] }

  /// The names of all static members.
  private static let names: [ErrorCode: String] = [
    .validation: "validation", .multipleErrors: "multipleErrors",
    .missingMandatoryProperty: "missingMandatoryProperty",
    .relationshipLacksMinimumCount: "relationshipLacksMinimumCount",
    .relationshipExceedsMaximumCount: "relationshipExceedsMaximumCount",
    .relationshipDeniedDelete: "relationshipDeniedDelete", .numberTooLarge: "numberTooLarge",
    .numberTooSmall: "numberTooSmall", .dateTooLate: "dateTooLate", .dateTooSoon: "dateTooSoon",
    .stringTooLong: "stringTooLong", .stringTooShort: "stringTooShort",
    .stringPatternMatching: "stringPatternMatching", .changedInPlace: "changedInPlace", .unknownName: "unknownName",
    .containerClosed: "containerClosed",
    .invalidValue: "invalidValue", .invalidObject: "invalidObject", .invalidRequest: "invalidRequest",
    .recursiveSave: "recursiveSave", .contextBusy: "contextBusy", .externalRelationship: "externalRelationship",
    .invalidPredicate: "invalidPredicate", .predicateMismatch: "predicateMismatch", .evaluation: "evaluation",
    .invalidModel: "invalidModel", .invalidExtension: "invalidExtension", .extensionConflict: "extensionConflict",
    .cannotOpenFile: "cannotOpenFile", .sourceTooLarge: "sourceTooLarge", .malformedFile: "malformedFile",
    .malformedText: "malformedText", .unsupportedForm: "unsupportedForm", .readOnlyStore: "readOnlyStore",
    .objectNotFound: "objectNotFound", .mergeConflict: "mergeConflict", .constraintConflict: "constraintConflict",
    .invalidStore: "invalidStore", .incompatibleSchema: "incompatibleSchema", .storeFailure: "storeFailure",
    .storeBusy: "storeBusy", .historyTokenExpired: "historyTokenExpired",
    .incompatibleVersionHash: "incompatibleVersionHash", .migrationLoss: "migrationLoss",
    .missingSourceModel: "missingSourceModel", .missingMappingModel: "missingMappingModel",
    .cannotInferMapping: "cannotInferMapping", .extensionFailure: "extensionFailure", .limitExceeded: "limitExceeded",
    .interrupted: "interrupted", .extensionLimit: "extensionLimit", .extensionDisabled: "extensionDisabled",
  ]
}
