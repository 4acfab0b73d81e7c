import MoonbaseModel

/// The known keys of a model's archived classes. Unknown keys are reported instead of silently dropped.
///
/// The keys of aspects come from the lists of aspects; the others are listed here by class. A class
/// that is not listed has no unknown keys, because its objects are checked where they are read.
enum ArchivedKeys {
  /// The unknown keys of an object.
  ///
  /// Sorted, so that warnings have a fixed order.
  static func unknown(in object: ArchivedObject) -> [String] {
    guard let known = byClass[object.className] else { return [] }
    return object.fields.keys.filter { !known.contains($0) }.sorted()
  }

  /// The known storage flags of attributes.
  ///
  /// The flags are bits of `NSFlagsKey`. The reader reports any further bit.
  static let storageFlags = AttributeDescription.aspects.reduce(0) { flags, aspect in
    if case .storageFlag(let bit)? = aspect.archived { flags | bit } else { flags }
  }

  /// The keys of a description's aspects.
  private static func keys<Owner: Described>(of type: Owner.Type) -> Set<String> {
    Set(type.aspects.compactMap { $0.archived?.key })
  }

  /// The keys of all properties.
  private static let property = words(
    "$class NSEntity NSIndexedBySpotlight NSIsIndexed NSIsOptional NSIsReadOnly NSIsTransient NSPropertyName "
      + "NSRenamingIdentifier NSUserInfo NSValidationPredicates NSValidationWarnings NSVersionHashModifier _P")

  /// The keys of attributes, plain, derived and composite.
  private static let attribute = property.union(keys(of: AttributeDescription.self)).union(
    words(
      "NSAttributeType NSAttributeValueClassName NSDefaultValue NSDerivationExpression NSElements "
        + "NSFilteringPredicate \(SupplementKeys.valueClass) \(SupplementKeys.derivation)"))

  /// The known keys by the name of the archived class.
  private static let byClass: [String: Set<String>] = [
    "NSManagedObjectModel": words(
      "$class CDMCompilerToolVersion CDMCompilerXcodeVersion NSConfigurations NSEntities NSFetchRequestTemplates "
        + "NSVersionIdentifiers"),
    "NSEntityDescription": keys(of: EntityDescription.self).union(
      words(
        "$class NSClassNameForEntity NSCompoundIndexes NSEntityName NSFetchIndexDescriptions NSManagedObjectModel "
          + "NSProperties NSRenamingIdentifier NSSubentities NSSuperentity NSUniqueTuples NSUserInfo")),
    "NSAttributeDescription": attribute,
    "NSDerivedAttributeDescription": attribute,
    "NSCompositeAttributeDescription": attribute,
    "NSRelationshipDescription": property.union(keys(of: RelationshipDescription.self)).union(
      words(
        "NSDeleteRule NSDestinationEntity NSInverseRelationship NSMaxCount _NSDestinationEntityName "
          + "_NSInverseRelationshipName")),
    "NSFetchedPropertyDescription": property.union(words("NSFetchRequest _NSFetchRequestEntityName")),
    "NSFetchIndexDescription": words(
      "$class NSEntity NSIndexElements NSIndexName NSPartialIndexPredicate \(SupplementKeys.partialIndexPredicate)"),
    "NSFetchIndexElementDescription": words(
      "$class NSAscending NSFetchIndexDescription NSFetchIndexElementType NSPropertyName "
        + "\(SupplementKeys.isExpression) \(SupplementKeys.expressionType)"),
    "NSSortDescriptor": words("$class NSAscending NSKey NSReverseNullOrder NSSelector"),
    "NSExpressionDescription": property.union(words("NSExpression NSExpressionResultType")),
    "NSFetchRequest": keys(of: FetchRequest.self).union(
      words(
        "$class NSAllocationType NSEntity NSEntityName NSFetchRequestFlags NSHasFetchRequestFlags NSHavingPredicate "
          + "NSPredicate NSRelationshipKeyPathsForPrefetching NSResultType NSSortDescriptors NSValuesToFetch "
          + "NSValuesToGroupBy")),
  ]

  /// The words of a text, to list keys without quotes.
  private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }
}

/// Keys for settings that have no known place in Core Data's archive. They are written beside Core Data's keys, and
/// only for settings that differ from the default on reading: the archive of a model without such settings has Core
/// Data's keys only. Unarchiving asks for keys by name, so frameworks ignore unknown ones.
///
/// Only settings with their own reading and writing are listed here; the others are declared with their aspects.
///
/// For example, a derivation whose text an archived expression does not restore is written once as
/// Core Data's expression and once as text.
enum SupplementKeys {
  /// The class of an attribute's values, if it equals the type's default class and is stated
  /// nevertheless.
  static let valueClass = "MoonbaseAttributeValueClassName"
  /// The text of a derivation.
  static let derivation = "MoonbaseDerivationExpression"
  /// Whether an index element is an expression, if the properties do not show it.
  static let isExpression = "MoonbaseIsExpression"
  /// The type of an index element's expression.
  static let expressionType = "MoonbaseExpressionType"
  /// The text of a partial index's predicate.
  static let partialIndexPredicate = "MoonbasePartialIndexPredicate"
}
