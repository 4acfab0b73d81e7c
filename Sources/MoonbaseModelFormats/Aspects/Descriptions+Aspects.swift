package import MoonbaseModel

/// What says something: a description, or a fetch request.
package protocol Described {
  /// All that it says, in the order in which a Lua model says it.
  static var aspects: [Aspect<Self>] { get }
}

/// What a model names, and what a newer model may rename.
protocol NamedDescription: Described {
  var name: String { get }
  var renamingIdentifier: String? { get }
  var userInfo: [String: Value] { get }
}

// The table of what descriptions say.

extension AttributeDescription: NamedDescription {
  package static let aspects: [Aspect<Self>] = [
    .stated("type") { .type($0.type) },
    .flag("optional", \.isOptional, usual: true, xcode: "optional", archived: .key("NSIsOptional")),
    .flag("transient", \.isTransient, xcode: "transient", archived: .key("NSIsTransient")),
    .stated("default") { .value(known: $0.defaultValue) },
    .stated("min") { .value(known: $0.validation.minimum) },
    .stated("max") { .value(known: $0.validation.maximum) },
    .limit("min_length", \.validation.minimumLength),
    .limit("max_length", \.validation.maximumLength),
    .text("matches", \.validation.regularExpression),
    .stated("one_of") { $0.validation.allowedValues.map(AspectValue.values) },
    .stated("rules") { $0.validation.predicates.isEmpty ? nil : .rules($0.validation.predicates) },
    .text(
      "transformer", \.valueTransformerName, xcode: "valueTransformerName",
      archived: .keyOrNull("NSValueTransformerName")),
    .text("class", \.valueClassName, report: .named("valueClass"), xcode: "customClassName"),
    .flag(
      "external_storage", \.allowsExternalBinaryDataStorage, xcode: "allowsExternalBinaryDataStorage",
      archived: .storageFlag(4)),
    .flag(
      "keep_in_history", \.preservesValueInHistoryOnDeletion, xcode: "preserveAfterDeletion", archived: .storageFlag(16)
    ),
    .flag(
      "cloud_encryption", \.allowsCloudEncryption, xcode: "allowsCloudEncryption",
      archived: .supplement("MoonbaseAllowsCloudEncryption")),
    .flag(
      "spotlight", \.isIndexedBySpotlight, xcode: "spotlightIndexingEnabled", archived: .key("NSIndexedBySpotlight")),
    .flag(
      "scalar", \.usesScalarValueType, xcode: "usesScalarValueType",
      archived: .supplement("MoonbaseUsesScalarValueType")),
    .flag("indexed", \.isIndexed, xcode: "indexed", archived: .key("NSIsIndexed")),
    .text("derivation", \.derivationExpression, xcode: "derivationExpression"),
    .stated("elements") { $0.elements.isEmpty ? nil : .attributes($0.elements) },
    .text(
      "renamed_from", \.renamingIdentifier, report: .named("renamingIdentifier"), xcode: "elementID",
      "renamingIdentifier"),
    .text(
      "version_hash_modifier", \.versionHashModifier, xcode: "versionHashModifier",
      archived: .key("NSVersionHashModifier")),
    .stated("user_info") { .userInfo(known: $0.userInfo) },
  ]
}

extension RelationshipDescription: NamedDescription {
  package static let aspects: [Aspect<Self>] = [
    .stated("to", report: .none) { $0.isToMany ? nil : .text($0.destinationEntityName) },
    .stated("to_many", report: .none) { $0.isToMany ? .text($0.destinationEntityName) : nil },
    .text("inverse", \.inverseName, xcode: "inverseName"),
    .stated("delete", usual: .deleteRule(.nullify), report: .named("deleteRule")) { .deleteRule($0.deleteRule) },
    .flag("optional", \.isOptional, usual: true, xcode: "optional", archived: .key("NSIsOptional")),
    .flag("transient", \.isTransient, xcode: "transient", archived: .key("NSIsTransient")),
    .flag("ordered", \.isOrdered, xcode: "ordered", archived: .key("NSIsOrdered")),
    .number("min", \.minCount, report: .named("minCount"), xcode: "minCount", archived: .key("NSMinCount")),
    .stated("max", report: .none) { $0.isToMany && $0.maxCount != 0 ? .number($0.maxCount) : nil },
    .flag(
      "spotlight", \.isIndexedBySpotlight, xcode: "spotlightIndexingEnabled", archived: .key("NSIndexedBySpotlight")),
    .text(
      "renamed_from", \.renamingIdentifier, report: .named("renamingIdentifier"), xcode: "elementID",
      "renamingIdentifier"),
    .text(
      "version_hash_modifier", \.versionHashModifier, xcode: "versionHashModifier",
      archived: .key("NSVersionHashModifier")),
    .stated("user_info") { .userInfo(known: $0.userInfo) },
  ]
}

extension EntityDescription: NamedDescription {
  package static let aspects: [Aspect<Self>] = [
    .text("parent", \.superentityName, xcode: "parentEntity"),
    .stated("subentities", report: .none) { .names(known: $0.subentityNames) },
    .text("class", \.managedObjectClassName, report: .named("className"), xcode: "representedClassName"),
    .flag("abstract", \.isAbstract, xcode: "isAbstract", archived: .key("NSIsAbstract")),
    .text(
      "renamed_from", \.renamingIdentifier, report: .named("renamingIdentifier"), xcode: "elementID",
      "renamingIdentifier"),
    .text(
      "version_hash_modifier", \.versionHashModifier, xcode: "versionHashModifier",
      archived: .keyOrNull("NSVersionHashModifier")),
    .text(
      "code_generation", \.codeGenerationType, xcode: "codeGenerationType",
      archived: .supplement("MoonbaseCodeGenerationType")),
    .text(
      "spotlight_name", \.coreSpotlightDisplayNameExpression, xcode: "coreSpotlightDisplayNameExpression",
      archived: .supplement("MoonbaseSpotlightDisplayName")),
    .stated("attributes", report: .none) { $0.attributes.isEmpty ? nil : .attributes($0.attributes) },
    .stated("relationships", report: .none) { $0.relationships.isEmpty ? nil : .relationships($0.relationships) },
    .stated("fetched_properties", report: .none) {
      $0.fetchedProperties.isEmpty ? nil : .fetchedProperties($0.fetchedProperties)
    },
    .stated("constraints", report: .none) {
      $0.uniquenessConstraints.isEmpty ? nil : .constraints($0.uniquenessConstraints)
    },
    .stated("indexes", report: .none) { $0.indexes.isEmpty ? nil : .indexes($0.indexes) },
    .stated("user_info") { .userInfo(known: $0.userInfo) },
  ]
}

extension FetchedPropertyDescription: NamedDescription {
  /// What it says beside its fetch.
  package static let aspects: [Aspect<Self>] = [
    .flag("optional", \.isOptional, usual: true, xcode: "optional", archived: .key("NSIsOptional")),
    .text(
      "renamed_from", \.renamingIdentifier, report: .named("renamingIdentifier"), xcode: "elementID",
      "renamingIdentifier"),
    .stated("user_info") { .userInfo(known: $0.userInfo) },
  ]
}

extension FetchRequest: Described {
  package static let aspects: [Aspect<Self>] = [
    .stated("entity") { .text($0.entityName) },
    .stated("predicate") { $0.predicate.map(AspectValue.predicate) },
    .stated("sort", report: .none) { $0.sortDescriptors.isEmpty ? nil : .sort($0.sortDescriptors) },
    .number("limit", \.fetchLimit, xcode: "fetchLimit", archived: .key("NSFetchLimit")),
    .number("offset", \.fetchOffset, archived: .key("NSFetchOffset")),
    .number("batch", \.fetchBatchSize, xcode: "fetchBatchSize", archived: .key("NSBatchSize")),
    .flag(
      "subentities", \.includesSubentities, usual: true, unnamed: true, xcode: "includeSubentities",
      "includesSubentities",
      archived: .supplement("MoonbaseIncludesSubentities")),
    .flag(
      "pending_changes", \.includesPendingChanges, usual: true, unnamed: true, xcode: "includesPendingChanges",
      "includePendingChanges", archived: .supplement("MoonbaseIncludesPendingChanges")),
    .flag(
      "property_values", \.includesPropertyValues, usual: true, unnamed: true, xcode: "includePropertyValues",
      "includesPropertyValues", archived: .supplement("MoonbaseIncludesPropertyValues")),
    .flag(
      "faults", \.returnsObjectsAsFaults, usual: true, unnamed: true, xcode: "returnObjectsAsFaults",
      "returnsObjectsAsFaults", archived: .supplement("MoonbaseReturnsObjectsAsFaults")),
    .stated("prefetch") { .names(known: $0.relationshipKeyPathsForPrefetching) },
    .flag(
      "refresh", \.shouldRefreshRefetchedObjects, archived: .supplement("MoonbaseRefreshesRefetchedObjects")),
    .stated("result", usual: .resultType(.objects)) { .resultType($0.resultType) },
    .stated("columns") { $0.propertiesToFetch.isEmpty ? nil : .columns($0.propertiesToFetch) },
    .stated("group_by") { .names(known: $0.propertiesToGroupBy) },
    .stated("having") { $0.havingPredicate.map(AspectValue.predicate) },
    .flag(
      "distinct", \.returnsDistinctResults, xcode: "returnDistinctResults", "returnsDistinctResults",
      archived: .supplement("MoonbaseReturnsDistinctResults")),
  ]
}
