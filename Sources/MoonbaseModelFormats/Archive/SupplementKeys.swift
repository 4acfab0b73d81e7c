import MoonbaseModel

/// What descriptions hold and Core Data's archive has no known place for. Each stands under a key of our own beside those of
/// Core Data, and only where it differs from what reading would find without it: the archive of a model that says none of it
/// has Core Data's keys and no others. Unarchiving asks for keys by name, so that a framework passes over these.
enum SupplementKeys {
  static let codeGeneration = "MoonbaseCodeGenerationType"
  static let spotlightName = "MoonbaseSpotlightDisplayName"
  static let scalar = "MoonbaseUsesScalarValueType"
  static let cloudEncryption = "MoonbaseAllowsCloudEncryption"
  static let valueClass = "MoonbaseAttributeValueClassName"
  static let derivation = "MoonbaseDerivationExpression"
  static let isExpression = "MoonbaseIsExpression"
  static let expressionType = "MoonbaseExpressionType"
  static let partialIndexPredicate = "MoonbasePartialIndexPredicate"
  /// Flags of fetch requests, by their names. How Core Data packs them into one number is not known.
  static let fetchFlags = [
    "MoonbaseIncludesSubentities", "MoonbaseIncludesPendingChanges", "MoonbaseIncludesPropertyValues",
    "MoonbaseReturnsObjectsAsFaults", "MoonbaseRefreshesRefetchedObjects", "MoonbaseReturnsDistinctResults",
  ]

  /// The keys that an object of a class may have.
  static func known(of className: String) -> Set<String> {
    switch className {
    case "NSEntityDescription": [codeGeneration, spotlightName]
    case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
      [scalar, cloudEncryption, valueClass, derivation]
    case "NSFetchIndexDescription": [partialIndexPredicate]
    case "NSFetchIndexElementDescription": [isExpression, expressionType]
    case "NSFetchRequest": Set(fetchFlags)
    default: []
    }
  }
}

extension FetchRequest {
  /// The flags in the order of their keys.
  var archivedFlags: [Bool] {
    get {
      [
        includesSubentities, includesPendingChanges, includesPropertyValues, returnsObjectsAsFaults,
        shouldRefreshRefetchedObjects, returnsDistinctResults,
      ]
    }
    set {
      guard newValue.count == SupplementKeys.fetchFlags.count else { return }
      includesSubentities = newValue[0]
      includesPendingChanges = newValue[1]
      includesPropertyValues = newValue[2]
      returnsObjectsAsFaults = newValue[3]
      shouldRefreshRefetchedObjects = newValue[4]
      returnsDistinctResults = newValue[5]
    }
  }
}
