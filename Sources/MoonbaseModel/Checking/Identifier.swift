/// What entities and properties may be called: key paths, predicates and SQL all have to name them.
package enum Identifier {
  /// What to say of a name that is none.
  static let rule = "a name consists of letters, digits and underscores and does not begin with a digit: rename it"

  package static func isOne(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, isLetter(first) else { return false }
    return name.unicodeScalars.dropFirst().allSatisfy { scalar in
      isLetter(scalar) || isMarkOrDigit(scalar)
    }
  }

  /// A name that may hold anything, for a message.
  static func shown(_ name: String) -> String { name.debugDescription }

  // Unicode's tables are slow, and most names do without them.

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_": true
    default: !scalar.isASCII && scalar.properties.isAlphabetic
    }
  }

  private static func isMarkOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return ("0"..."9").contains(scalar) }
    return switch scalar.properties.generalCategory {
    case .decimalNumber, .nonspacingMark, .spacingMark: true
    default: false
    }
  }
}

/// Names of parameterless methods of `NSObject` and `NSManagedObject`, which Core Data's compiler refuses as property
/// names (property description, class reference). `deleted`, `inserted`, `updated` and `fault` have getters `isX`:
/// these four are legal.
package enum RefusedPropertyNames {
  package static let names: Set<String> = Set(
    """
    attributeKeys autorelease awakeFromFetch awakeFromInsert changedValues changedValuesForCurrentEvent class \
    classDescription className classForCoder classForKeyedArchiver classForArchiver copy dealloc debugDescription \
    description didSave didTurnIntoFault entity faultingState finalize hasChanges hasFault hasPersistentChangedValues \
    hash init isDeleted isFault isInserted isProxy isUpdated managedObjectContext mutableCopy objectID \
    observationInfo prepareForDeletion release retain retainCount scriptingProperties self superclass toManyRelationshipKeys \
    toOneRelationshipKeys willSave willTurnIntoFault zone
    """.split(separator: " ").map(String.init))
}
