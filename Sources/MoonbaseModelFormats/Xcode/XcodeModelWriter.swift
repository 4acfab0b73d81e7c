import MoonbaseModel
import MoonbasePlatform

/// Writes the `contents` file of an `.xcdatamodel`.
///
/// The layout and the order of attributes are close to Xcode's own, so that differences in version
/// control stay small. Values equal to the defaults of the format are omitted.
struct XcodeModelWriter {
  /// The writer of the XML.
  private var xml = MarkupWriter()
  /// The model, which has only settings that the format can hold.
  private let model: ManagedObjectModel

  /// The text of the file. Throws `.unsupportedForm` for settings that the format cannot hold.
  static func write(_ model: ManagedObjectModel) throws(ModelError) -> String {
    try ReducedModel(model, to: .xcode).check()
    var writer = XcodeModelWriter(model: model)
    writer.write()
    return writer.xml.text
  }

  /// A writer of a model.
  private init(model: ManagedObjectModel) { self.model = model }

  /// Writes the root element.
  private mutating func write() {
    let model = model
    xml.element(
      "model",
      attributes: [
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0", "minimumToolsVersion": "Automatic",
        "sourceLanguage": "Swift", "userDefinedModelVersionIdentifier": model.versionIdentifiers.first,
      ]
    ) { xml in
      for entity in model.entities { Self.write(entity, to: &xml) }
      for (name, request) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
        Self.write(request, name: name, to: &xml)
      }
      for (name, members) in model.configurations.sorted(by: { $0.key < $1.key }) {
        xml.element("configuration", attributes: ["name": name]) { xml in
          for member in members { xml.element("memberEntity", attributes: ["name": member]) }
        }
      }
    }
  }

  // MARK: Entities

  /// Writes an entity with its properties, indexes and constraints.
  private static func write(_ entity: EntityDescription, to xml: inout MarkupWriter) {
    xml.element(
      "entity",
      attributes: ["name": entity.name, "syncable": "YES"], others: attributes(of: entity.withDottedClass)
    ) { xml in
      for attribute in entity.attributes { write(attribute, to: &xml) }
      for relationship in entity.relationships { write(relationship, to: &xml) }
      for property in entity.fetchedProperties { write(property, to: &xml) }
      for index in entity.indexes { write(index, to: &xml) }
      if !entity.uniquenessConstraints.isEmpty { write(constraints: entity.uniquenessConstraints, to: &xml) }
      write(entity.userInfo, to: &xml)
    }
  }

  /// Writes the uniqueness constraints.
  private static func write(constraints: [[String]], to xml: inout MarkupWriter) {
    xml.element("uniquenessConstraints", attributes: [:]) { xml in
      for constraint in constraints {
        xml.element("uniquenessConstraint", attributes: [:]) { xml in
          for name in constraint { xml.element("constraint", attributes: ["value": name]) }
        }
      }
    }
  }

  /// Writes an attribute with its elements. The bounds of a string are those of its length.
  private static func write(_ attribute: AttributeDescription, to xml: inout MarkupWriter) {
    let validation = attribute.validation
    let isString = attribute.type == .string
    let minimum = isString ? validation.minimumLength.map { "\($0)" } : validation.minimum.flatMap(ModelText.text)
    let maximum = isString ? validation.maximumLength.map { "\($0)" } : validation.maximum.flatMap(ModelText.text)
    xml.element(
      "attribute",
      attributes: [
        "name": attribute.name, "attributeType": attribute.type == .undefined ? nil : attribute.type.xcodeName,
        "minValueString": minimum, "maxValueString": maximum,
        "minDateTimeInterval": interval(validation.minimum), "maxDateTimeInterval": interval(validation.maximum),
        "defaultValueString": ModelText.text(attribute.defaultValue),
        "defaultDateTimeInterval": interval(attribute.defaultValue),
        "regularExpressionString": validation.regularExpression,
        "derived": attribute.derivationExpression.map { _ in "YES" },
      ], others: attributes(of: attribute)
    ) { xml in
      for element in attribute.elements { write(element, to: &xml) }
      write(attribute.userInfo, to: &xml)
    }
  }

  /// Writes a relationship.
  private static func write(_ relationship: RelationshipDescription, to xml: inout MarkupWriter) {
    xml.element(
      "relationship",
      attributes: [
        "name": relationship.name, "toMany": relationship.isToMany ? "YES" : nil,
        "maxCount": relationship.maxCount == 0 ? nil : "\(relationship.maxCount)",
        "deletionRule": relationship.deleteRule.xcodeName,
        "destinationEntity": relationship.destinationEntityName,
        "inverseEntity": relationship.inverseName.map { _ in relationship.destinationEntityName },
      ], others: attributes(of: relationship)
    ) { xml in write(relationship.userInfo, to: &xml) }
  }

  // MARK: Fetches and indexes

  /// Writes a fetched property with its fetch request.
  private static func write(_ property: FetchedPropertyDescription, to xml: inout MarkupWriter) {
    xml.element(
      "fetchedProperty", attributes: ["name": property.name], others: attributes(of: property)
    ) { xml in
      write(property.fetchRequest, name: "fetchedPropertyFetchRequest", to: &xml)
      write(property.userInfo, to: &xml)
    }
  }

  /// Writes a fetch request under a name.
  private static func write(_ request: FetchRequest, name: String, to xml: inout MarkupWriter) {
    xml.element(
      "fetchRequest",
      attributes: [
        "name": name, "entity": request.entityName, "predicateString": request.predicate.map { "\($0)" },
        "resultType": request.resultType == .objects ? nil : "\(request.resultType.rawValue)",
      ], others: attributes(of: request))
  }

  /// Writes a fetch index with its elements.
  private static func write(_ index: FetchIndexDescription, to xml: inout MarkupWriter) {
    xml.element("fetchIndex", attributes: ["name": index.name, "partialIndexPredicate": index.partialIndexPredicate]) {
      xml in
      for element in index.elements {
        xml.element(
          "fetchIndexElement",
          attributes: [
            "property": element.isExpression ? nil : element.property,
            "expression": element.isExpression ? element.property : nil, "expressionType": element.expressionType,
            "type": element.kind == .rTree ? "RTree" : "Binary",
            "order": element.isAscending ? "ascending" : "descending",
          ])
      }
    }
  }

  /// Writes user info, sorted by key; nothing for none.
  private static func write(_ userInfo: [String: Value], to xml: inout MarkupWriter) {
    if userInfo.isEmpty { return }
    xml.element("userInfo", attributes: [:]) { xml in
      for case (let key, .string(let value)) in userInfo.sorted(by: { $0.key < $1.key }) {
        xml.element("entry", attributes: ["key": key, "value": value])
      }
    }
  }

  // MARK: Texts

  /// The attributes of a description's element. Defaults of files are omitted, as in Xcode's own files.
  ///
  /// The name is the first of the aspect's XML names.
  private static func attributes<Owner: Described>(of owner: Owner) -> [(key: String, value: String?)] {
    Owner.aspects.compactMap { aspect in aspect.xcode.first.map { ($0, text(of: aspect, from: owner)) } }
  }

  /// The text of an aspect; nil for the default of the format.
  private static func text<Owner>(of aspect: Aspect<Owner>, from owner: Owner) -> String? {
    switch aspect.field {
    case .flag(let path, _, let unnamed): owner[keyPath: path] == unnamed ? nil : owner[keyPath: path] ? "YES" : "NO"
    case .text(let path): owner[keyPath: path]
    case .number(let path): owner[keyPath: path] == 0 ? nil : "\(owner[keyPath: path])"
    case .limit(let path): owner[keyPath: path].map { "\($0)" }
    case .stated: nil
    }
  }

  /// The seconds since 2001 of a date; nil for other values.
  private static func interval(_ value: Value?) -> String? {
    if case .date(let date)? = value { "\(date.timeIntervalSinceReferenceDate)" } else { nil }
  }
}

extension EntityDescription {
  /// The entity with a dot before its class, if the class is in the app's module.
  fileprivate var withDottedClass: EntityDescription {
    guard usesCurrentProductModule else { return self }
    var entity = self
    entity.managedObjectClassName = ".\(managedObjectClassName ?? "")"
    return entity
  }
}
