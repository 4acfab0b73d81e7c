import MoonbaseModel

/// The keys that the archived classes of a model are known to have. Others are reported, not dropped in silence.
enum ArchivedKeys {
  /// The keys of an object that nobody knows.
  static func unknown(in object: ArchivedObject) -> [String] {
    guard let known = byClass[object.className] else { return [] }
    let own = SupplementKeys.known(of: object.className)
    return object.fields.keys.filter { !known.contains($0) && !own.contains($0) }.sorted()
  }

  private static let property = words(
    "$class NSEntity NSIndexedBySpotlight NSIsIndexed NSIsOptional NSIsReadOnly NSIsTransient NSPropertyName "
      + "NSRenamingIdentifier NSUserInfo NSValidationPredicates NSValidationWarnings NSVersionHashModifier _P")

  private static let attribute = property.union(
    words(
      "NSAttributeType NSAttributeValueClassName NSDefaultValue NSDerivationExpression NSElements "
        + "NSFilteringPredicate NSFlagsKey NSValueTransformerName"))

  private static let byClass: [String: Set<String>] = [
    "NSManagedObjectModel": words(
      "$class CDMCompilerToolVersion CDMCompilerXcodeVersion NSConfigurations NSEntities NSFetchRequestTemplates "
        + "NSVersionIdentifiers"),
    "NSEntityDescription": words(
      "$class NSClassNameForEntity NSCompoundIndexes NSEntityName NSFetchIndexDescriptions NSIsAbstract "
        + "NSManagedObjectModel NSProperties NSRenamingIdentifier NSSubentities NSSuperentity NSUniqueTuples NSUserInfo "
        + "NSVersionHashModifier"),
    "NSAttributeDescription": attribute,
    "NSDerivedAttributeDescription": attribute,
    "NSCompositeAttributeDescription": attribute,
    "NSRelationshipDescription": property.union(
      words(
        "NSDeleteRule NSDestinationEntity NSInverseRelationship NSIsOrdered NSMaxCount NSMinCount "
          + "_NSDestinationEntityName _NSInverseRelationshipName")),
    "NSFetchedPropertyDescription": property.union(words("NSFetchRequest _NSFetchRequestEntityName")),
    "NSFetchIndexDescription": words("$class NSEntity NSIndexElements NSIndexName NSPartialIndexPredicate"),
    "NSFetchIndexElementDescription": words(
      "$class NSAscending NSFetchIndexDescription NSFetchIndexElementType NSPropertyName"),
    "NSSortDescriptor": words("$class NSAscending NSKey NSReverseNullOrder NSSelector"),
    "NSExpressionDescription": property.union(words("NSExpression NSExpressionResultType")),
    "NSFetchRequest": words(
      "$class NSAllocationType NSBatchSize NSEntity NSEntityName NSFetchLimit NSFetchOffset NSFetchRequestFlags "
        + "NSHasFetchRequestFlags NSHavingPredicate NSPredicate NSRelationshipKeyPathsForPrefetching NSResultType "
        + "NSSortDescriptors NSValuesToFetch NSValuesToGroupBy"),
  ]

  private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }
}
