import MoonbaseModel

/// The keys that the archived classes of a model are known to have. Others are reported, not dropped in silence.
enum ArchivedKeys {
  /// The keys of an object that are not known.
  static func unknown(in object: ArchivedObject) -> [String] {
    guard let known = byClass[object.className] else { return [] }
    return object.fields.keys.filter { !known.contains($0) }.sorted()
  }

  /// The storage flags of attributes that are known.
  static let storageFlags = AttributeDescription.aspects.reduce(0) { flags, aspect in
    if case .storageFlag(let bit)? = aspect.archived { flags | bit } else { flags }
  }

  /// The keys of what the aspects of a description say.
  private static func keys<Owner: Described>(of type: Owner.Type) -> Set<String> {
    Set(type.aspects.compactMap { $0.archived?.key })
  }

  private static let property = words(
    "$class NSEntity NSIndexedBySpotlight NSIsIndexed NSIsOptional NSIsReadOnly NSIsTransient NSPropertyName "
      + "NSRenamingIdentifier NSUserInfo NSValidationPredicates NSValidationWarnings NSVersionHashModifier _P")

  private static let attribute = property.union(keys(of: AttributeDescription.self)).union(
    words(
      "NSAttributeType NSAttributeValueClassName NSDefaultValue NSDerivationExpression NSElements "
        + "NSFilteringPredicate \(SupplementKeys.valueClass) \(SupplementKeys.derivation)"))

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

  private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }
}

/// What descriptions hold and Core Data's archive has no known place for. Each stands under a key of our own beside those of
/// Core Data, and only where it differs from what reading would find without it: the archive of a model that says none of it
/// has Core Data's keys and no others. Unarchiving asks for keys by name, so that a framework passes over these.
///
/// These are the keys of what is read and written in a way of its own; the others stand with their aspects.
enum SupplementKeys {
  static let valueClass = "MoonbaseAttributeValueClassName"
  static let derivation = "MoonbaseDerivationExpression"
  static let isExpression = "MoonbaseIsExpression"
  static let expressionType = "MoonbaseExpressionType"
  static let partialIndexPredicate = "MoonbasePartialIndexPredicate"
}
