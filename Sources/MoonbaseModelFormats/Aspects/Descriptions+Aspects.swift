package import MoonbaseModel

/// A type with aspects: a description or a fetch request.
///
/// Formats are written against this protocol: a reader asks for the names of each aspect, a writer
/// for its value.
package protocol Described {
  /// The aspects, in the order of a Lua model.
  static var aspects: [Aspect<Self>] { get }
}

/// A named description, which a newer model may rename.
///
/// Attributes, relationships, entities and fetched properties conform.
protocol NamedDescription: Described {
  /// The name in the model.
  var name: String { get }
  /// The name or identifier of the element in an earlier model; nil if it was not renamed.
  var renamingIdentifier: String? { get }
  /// The values that the model's author attached.
  var userInfo: [String: Value] { get }
}

// Aspects shared by several descriptions.

extension Aspect {
  /// A writable key path of the owner.
  fileprivate typealias Path<Field> = any WritableKeyPath<Owner, Field> & Sendable

  /// Whether the property may be missing. Xcode writes it only if it is true.
  fileprivate static func optional(at path: Path<Bool>) -> Aspect {
    .flag("optional", at: path, usual: true, xcode: "optional", archived: .key("NSIsOptional"))
  }

  /// Whether the property is not stored.
  fileprivate static func transient(at path: Path<Bool>) -> Aspect {
    .flag("transient", at: path, xcode: "transient", archived: .key("NSIsTransient"))
  }

  /// Whether Spotlight indexes the property.
  fileprivate static func spotlight(at path: Path<Bool>) -> Aspect {
    .flag("spotlight", at: path, xcode: "spotlightIndexingEnabled", archived: .key("NSIndexedBySpotlight"))
  }

  /// The renaming identifier, under Xcode's current and former names.
  fileprivate static func renamedFrom(at path: Path<String?>) -> Aspect {
    .text(
      "renamed_from", at: path, report: .named("renamingIdentifier"), xcode: "elementID", "renamingIdentifier")
  }

  /// The text that changes the version hash.
  fileprivate static func versionHashModifier(at path: Path<String?>, archived: Archived) -> Aspect {
    .text("version_hash_modifier", at: path, xcode: "versionHashModifier", archived: archived)
  }
}

// The aspects of descriptions.

extension AttributeDescription: NamedDescription {
  /// The aspects of an attribute.
  package static let aspects: [Aspect<Self>] = [
    .stated("type") { .type($0.type) },
    .optional(at: \.isOptional),
    .transient(at: \.isTransient),
    .stated("default") { .value(known: $0.defaultValue) },
    .stated("min") { .value(known: $0.validation.minimum) },
    .stated("max") { .value(known: $0.validation.maximum) },
    .limit("min_length", at: \.validation.minimumLength),
    .limit("max_length", at: \.validation.maximumLength),
    .text("matches", at: \.validation.regularExpression),
    .stated("one_of") { $0.validation.allowedValues.map(AspectValue.values) },
    .stated("rules") { $0.validation.predicates.isEmpty ? nil : .rules($0.validation.predicates) },
    .text(
      "transformer", at: \.valueTransformerName, xcode: "valueTransformerName",
      archived: .keyOrNull("NSValueTransformerName")),
    .text("class", at: \.valueClassName, report: .named("valueClass"), xcode: "customClassName"),
    .flag(
      "external_storage", at: \.allowsExternalBinaryDataStorage, xcode: "allowsExternalBinaryDataStorage",
      archived: .storageFlag(4)),
    .flag(
      "keep_in_history", at: \.preservesValueInHistoryOnDeletion, xcode: "preserveAfterDeletion",
      archived: .storageFlag(16)
    ),
    .flag(
      "cloud_encryption", at: \.allowsCloudEncryption, xcode: "allowsCloudEncryption",
      archived: .supplement("MoonbaseAllowsCloudEncryption")),
    .spotlight(at: \.isIndexedBySpotlight),
    .flag(
      "scalar", at: \.usesScalarValueType, xcode: "usesScalarValueType",
      archived: .supplement("MoonbaseUsesScalarValueType")),
    .flag("indexed", at: \.isIndexed, xcode: "indexed", archived: .key("NSIsIndexed")),
    .text("derivation", at: \.derivationExpression, xcode: "derivationExpression"),
    // Xcode's and compiled models keep the name in the user info.
    .text("swift", at: \.swiftTypeName, report: .named("swiftType")),
    .stated("elements") { $0.elements.isEmpty ? nil : .attributes($0.elements) },
    .renamedFrom(at: \.renamingIdentifier),
    .versionHashModifier(at: \.versionHashModifier, archived: .key("NSVersionHashModifier")),
    .stated("user_info") { attribute in
      .userInfo(known: attribute.userInfo.filter { $0.key != "swift" || attribute.swiftTypeName == nil })
    },
  ]
}

extension RelationshipDescription: NamedDescription {
  /// The aspects of a relationship.
  package static let aspects: [Aspect<Self>] = [
    .stated("to", report: .none) { $0.isToMany ? nil : .text($0.destinationEntityName) },
    .stated("to_many", report: .none) { $0.isToMany ? .text($0.destinationEntityName) : nil },
    .text("inverse", at: \.inverseName, xcode: "inverseName"),
    .stated("delete", usual: .deleteRule(.nullify), report: .named("deleteRule")) { .deleteRule($0.deleteRule) },
    .optional(at: \.isOptional),
    .transient(at: \.isTransient),
    .flag("ordered", at: \.isOrdered, xcode: "ordered", archived: .key("NSIsOrdered")),
    .number("min", at: \.minCount, report: .named("minCount"), xcode: "minCount", archived: .key("NSMinCount")),
    .stated("max", report: .none) { $0.isToMany && $0.maxCount != 0 ? .number($0.maxCount) : nil },
    .spotlight(at: \.isIndexedBySpotlight),
    .renamedFrom(at: \.renamingIdentifier),
    .versionHashModifier(at: \.versionHashModifier, archived: .key("NSVersionHashModifier")),
    .stated("user_info") { .userInfo(known: $0.userInfo) },
  ]
}

extension EntityDescription: NamedDescription {
  /// The aspects of an entity.
  package static let aspects: [Aspect<Self>] = [
    .text("parent", at: \.superentityName, xcode: "parentEntity"),
    .stated("subentities", report: .none) { .names(known: $0.subentityNames) },
    .text("class", at: \.managedObjectClassName, report: .named("className"), xcode: "representedClassName"),
    // In Xcode's format this is the dot before the class name.
    .flag(
      "current_module", at: \.usesCurrentProductModule, archived: .supplement("MoonbaseUsesCurrentProductModule")),
    .flag("abstract", at: \.isAbstract, xcode: "isAbstract", archived: .key("NSIsAbstract")),
    .renamedFrom(at: \.renamingIdentifier),
    .versionHashModifier(at: \.versionHashModifier, archived: .keyOrNull("NSVersionHashModifier")),
    .text(
      "code_generation", at: \.codeGenerationType, xcode: "codeGenerationType",
      archived: .supplement("MoonbaseCodeGenerationType")),
    .text(
      "spotlight_name", at: \.coreSpotlightDisplayNameExpression, xcode: "coreSpotlightDisplayNameExpression",
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
  /// The aspects of a fetched property besides its fetch request.
  package static let aspects: [Aspect<Self>] = [
    .optional(at: \.isOptional),
    .renamedFrom(at: \.renamingIdentifier),
    .stated("user_info") { .userInfo(known: $0.userInfo) },
  ]
}

extension FetchRequest: Described {
  /// The aspects of a fetch request.
  package static let aspects: [Aspect<Self>] = [
    .stated("entity") { .text($0.entityName) },
    .stated("predicate") { $0.predicate.map(AspectValue.predicate) },
    .stated("sort", report: .none) { $0.sortDescriptors.isEmpty ? nil : .sort($0.sortDescriptors) },
    .number("limit", at: \.fetchLimit, xcode: "fetchLimit", archived: .key("NSFetchLimit")),
    .number("offset", at: \.fetchOffset, archived: .key("NSFetchOffset")),
    .number("batch", at: \.fetchBatchSize, xcode: "fetchBatchSize", archived: .key("NSBatchSize")),
    .flag(
      "subentities", at: \.includesSubentities, usual: true, unnamed: true, xcode: "includeSubentities",
      "includesSubentities",
      archived: .supplement("MoonbaseIncludesSubentities")),
    .flag(
      "pending_changes", at: \.includesPendingChanges, usual: true, unnamed: true, xcode: "includesPendingChanges",
      "includePendingChanges", archived: .supplement("MoonbaseIncludesPendingChanges")),
    .flag(
      "property_values", at: \.includesPropertyValues, usual: true, unnamed: true, xcode: "includePropertyValues",
      "includesPropertyValues", archived: .supplement("MoonbaseIncludesPropertyValues")),
    .flag(
      "faults", at: \.returnsObjectsAsFaults, usual: true, unnamed: true, xcode: "returnObjectsAsFaults",
      "returnsObjectsAsFaults", archived: .supplement("MoonbaseReturnsObjectsAsFaults")),
    .stated("prefetch") { .names(known: $0.relationshipKeyPathsForPrefetching) },
    .flag(
      "refresh", at: \.shouldRefreshRefetchedObjects, archived: .supplement("MoonbaseRefreshesRefetchedObjects")),
    .stated("result", usual: .resultType(.objects)) { .resultType($0.resultType) },
    .stated("columns") { $0.propertiesToFetch.isEmpty ? nil : .columns($0.propertiesToFetch) },
    .stated("group_by") { .names(known: $0.propertiesToGroupBy) },
    .stated("having") { $0.havingPredicate.map(AspectValue.predicate) },
    .flag(
      "distinct", at: \.returnsDistinctResults, xcode: "returnDistinctResults", "returnsDistinctResults",
      archived: .supplement("MoonbaseReturnsDistinctResults")),
  ]
}
