import MoonbaseModel
import MoonbasePlatform

/// Writes the `contents` file of an `.xcdatamodel`.
struct XcodeModelWriter {
  private var xml = MarkupWriter()
  private let model: ManagedObjectModel

  static func write(_ model: ManagedObjectModel) throws(ModelError) -> String {
    try XcodeLimits.check(model)
    var writer = XcodeModelWriter(model: model)
    writer.write()
    return writer.xml.text
  }

  private init(model: ManagedObjectModel) { self.model = model }

  private mutating func write() {
    let model = model
    xml.element(
      "model",
      [
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0", "minimumToolsVersion": "Automatic",
        "sourceLanguage": "Swift", "userDefinedModelVersionIdentifier": model.versionIdentifiers.first,
      ]
    ) { xml in
      for entity in model.entities { Self.write(entity, to: &xml) }
      for (name, request) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
        Self.write(request, name: name, to: &xml)
      }
      for (name, members) in model.configurations.sorted(by: { $0.key < $1.key }) {
        xml.element("configuration", ["name": name]) { xml in
          for member in members { xml.element("memberEntity", ["name": member]) }
        }
      }
    }
  }

  // MARK: Entities

  private static func write(_ entity: EntityDescription, to xml: inout MarkupWriter) {
    xml.element(
      "entity",
      [
        "name": entity.name, "representedClassName": entity.managedObjectClassName,
        "parentEntity": entity.superentityName, "isAbstract": yes(entity.isAbstract),
        "elementID": entity.renamingIdentifier, "versionHashModifier": entity.versionHashModifier, "syncable": "YES",
        "codeGenerationType": entity.codeGenerationType,
        "coreSpotlightDisplayNameExpression": entity.coreSpotlightDisplayNameExpression,
      ]
    ) { xml in
      for attribute in entity.attributes { write(attribute, to: &xml) }
      for relationship in entity.relationships { write(relationship, to: &xml) }
      for property in entity.fetchedProperties { write(property, to: &xml) }
      for index in entity.indexes { write(index, to: &xml) }
      if !entity.uniquenessConstraints.isEmpty { write(constraints: entity.uniquenessConstraints, to: &xml) }
      write(entity.userInfo, to: &xml)
    }
  }

  private static func write(constraints: [[String]], to xml: inout MarkupWriter) {
    xml.element("uniquenessConstraints", [:]) { xml in
      for constraint in constraints {
        xml.element("uniquenessConstraint", [:]) { xml in
          for name in constraint { xml.element("constraint", ["value": name]) }
        }
      }
    }
  }

  private static func write(_ attribute: AttributeDescription, to xml: inout MarkupWriter) {
    let validation = attribute.validation
    let isString = attribute.type == .string
    let minimum = isString ? validation.minimumLength.map { "\($0)" } : validation.minimum.flatMap(ModelText.text)
    let maximum = isString ? validation.maximumLength.map { "\($0)" } : validation.maximum.flatMap(ModelText.text)
    xml.element(
      "attribute",
      [
        "name": attribute.name, "optional": yes(attribute.isOptional), "transient": yes(attribute.isTransient),
        "attributeType": attribute.type == .undefined ? nil : attribute.type.xcodeName,
        "valueTransformerName": attribute.valueTransformerName, "customClassName": attribute.valueClassName,
        "minValueString": minimum, "maxValueString": maximum,
        "minDateTimeInterval": interval(validation.minimum), "maxDateTimeInterval": interval(validation.maximum),
        "defaultValueString": ModelText.text(attribute.defaultValue),
        "defaultDateTimeInterval": interval(attribute.defaultValue),
        "regularExpressionString": validation.regularExpression,
        "usesScalarValueType": yes(attribute.usesScalarValueType), "indexed": yes(attribute.isIndexed),
        "derived": attribute.derivationExpression.map { _ in "YES" },
        "derivationExpression": attribute.derivationExpression,
        "allowsExternalBinaryDataStorage": yes(attribute.allowsExternalBinaryDataStorage),
        "preserveAfterDeletion": yes(attribute.preservesValueInHistoryOnDeletion),
        "allowsCloudEncryption": yes(attribute.allowsCloudEncryption),
        "spotlightIndexingEnabled": yes(attribute.isIndexedBySpotlight), "elementID": attribute.renamingIdentifier,
        "versionHashModifier": attribute.versionHashModifier,
      ]
    ) { xml in
      for element in attribute.elements { write(element, to: &xml) }
      write(attribute.userInfo, to: &xml)
    }
  }

  private static func write(_ relationship: RelationshipDescription, to xml: inout MarkupWriter) {
    let bound = relationship.maxCount == 0 ? nil : "\(relationship.maxCount)"
    xml.element(
      "relationship",
      [
        "name": relationship.name, "optional": yes(relationship.isOptional), "transient": yes(relationship.isTransient),
        "toMany": yes(relationship.isToMany),
        "minCount": relationship.minCount == 0 ? nil : "\(relationship.minCount)", "maxCount": bound,
        "deletionRule": relationship.deleteRule.xcodeName, "ordered": yes(relationship.isOrdered),
        "destinationEntity": relationship.destinationEntityName, "inverseName": relationship.inverseName,
        "inverseEntity": relationship.inverseName.map { _ in relationship.destinationEntityName },
        "spotlightIndexingEnabled": yes(relationship.isIndexedBySpotlight),
        "elementID": relationship.renamingIdentifier, "versionHashModifier": relationship.versionHashModifier,
      ]
    ) { xml in write(relationship.userInfo, to: &xml) }
  }

  // MARK: Fetches and indexes

  private static func write(_ property: FetchedPropertyDescription, to xml: inout MarkupWriter) {
    xml.element(
      "fetchedProperty",
      ["name": property.name, "optional": yes(property.isOptional), "elementID": property.renamingIdentifier]
    ) { xml in
      write(property.fetchRequest, name: "fetchedPropertyFetchRequest", to: &xml)
      write(property.userInfo, to: &xml)
    }
  }

  private static func write(_ request: FetchRequest, name: String, to xml: inout MarkupWriter) {
    xml.element(
      "fetchRequest",
      [
        "name": name, "entity": request.entityName, "predicateString": request.predicate.map { "\($0)" },
        "fetchLimit": request.fetchLimit == 0 ? nil : "\(request.fetchLimit)",
        "fetchBatchSize": request.fetchBatchSize == 0 ? nil : "\(request.fetchBatchSize)",
        "includeSubentities": no(request.includesSubentities),
        "includePropertyValues": no(request.includesPropertyValues),
        "returnObjectsAsFaults": no(request.returnsObjectsAsFaults),
        "includesPendingChanges": no(request.includesPendingChanges),
        "resultType": request.resultType == .objects ? nil : "\(request.resultType.rawValue)",
        "returnDistinctResults": yes(request.returnsDistinctResults),
      ])
  }

  private static func write(_ index: FetchIndexDescription, to xml: inout MarkupWriter) {
    xml.element("fetchIndex", ["name": index.name, "partialIndexPredicate": index.partialIndexPredicate]) { xml in
      for element in index.elements {
        xml.element(
          "fetchIndexElement",
          [
            "property": element.isExpression ? nil : element.property,
            "expression": element.isExpression ? element.property : nil, "expressionType": element.expressionType,
            "type": element.kind == .rTree ? "RTree" : "Binary",
            "order": element.isAscending ? "ascending" : "descending",
          ])
      }
    }
  }

  private static func write(_ userInfo: [String: Value], to xml: inout MarkupWriter) {
    if userInfo.isEmpty { return }
    xml.element("userInfo", [:]) { xml in
      for case (let key, .string(let value)) in userInfo.sorted(by: { $0.key < $1.key }) {
        xml.element("entry", ["key": key, "value": value])
      }
    }
  }

  // MARK: Texts

  /// What is not so is not written, as in Xcode's own files.
  private static func yes(_ flag: Bool) -> String? { flag ? "YES" : nil }

  /// What holds unless said otherwise.
  private static func no(_ flag: Bool) -> String? { flag ? nil : "NO" }

  private static func interval(_ value: Value?) -> String? {
    if case .date(let date)? = value { "\(date.timeIntervalSinceReferenceDate)" } else { nil }
  }
}
