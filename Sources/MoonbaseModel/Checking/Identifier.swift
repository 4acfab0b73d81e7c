/// The rule for names of entities and properties, which have to be usable in key paths, predicates and SQL.
package enum Identifier {
  /// The advice in errors about a name that breaks the rule.
  static let rule = "a name consists of letters, digits and underscores and does not begin with a digit: rename it"

  /// Whether a name is a valid identifier.
  ///
  /// Letters and digits of any script are allowed, so `größe` is an identifier.
  package static func isValid(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, isLetter(first) else { return false }
    return name.unicodeScalars.dropFirst().allSatisfy { scalar in
      isLetter(scalar) || isMarkOrDigit(scalar)
    }
  }

  /// An arbitrary name, quoted for a message.
  ///
  /// Quotes and escapes make spaces and control characters visible.
  static func shown(_ name: String) -> String { name.debugDescription }

  // ASCII is tested first, because lookups in Unicode's tables are slow and most names are ASCII.

  /// Whether a character may begin a name.
  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_": true
    default: !scalar.isASCII && scalar.properties.isAlphabetic
    }
  }

  /// Whether a character may follow in a name.
  private static func isMarkOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return ("0"..."9").contains(scalar) }
    return switch scalar.properties.generalCategory {
    case .decimalNumber, .nonspacingMark, .spacingMark: true
    default: false
    }
  }
}

/// Names of parameterless methods of `NSObject` and `NSManagedObject`, which Core Data's compiler refuses as property
/// names (property description, class reference). `deleted`, `inserted`, `updated` and `fault` are legal, because their
/// getters are named `isX`.
package enum RefusedPropertyNames {
  /// The refused names.
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
