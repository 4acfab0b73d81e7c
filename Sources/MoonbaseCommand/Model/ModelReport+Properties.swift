import MoonbaseModel

extension ModelReport {
  struct Rule: Encodable {
    let predicate: String
    let message: String
  }

  struct Attribute: Encodable {
    let name: String
    let type: String
    let optional: Bool
    let transient: Bool
    let `default`: ReportValue?
    let min: ReportValue?
    let max: ReportValue?
    let minLength: Int?
    let maxLength: Int?
    let matches: String?
    let oneOf: [ReportValue]?
    let rules: [Rule]?
    let valueClass: String?
    let transformer: String?
    let derivation: String?
    let elements: [Attribute]?
    let externalStorage: Bool
    let keepInHistory: Bool
    let cloudEncryption: Bool
    let spotlight: Bool
    let scalar: Bool
    let indexed: Bool
    let renamingIdentifier: String?
    let versionHashModifier: String?
    let userInfo: [String: ReportValue]?
    let versionHash: String?
  }

  struct Relationship: Encodable {
    let name: String
    let destination: String
    let inverse: String?
    let optional: Bool
    let transient: Bool
    let toMany: Bool
    let ordered: Bool
    let minCount: Int
    /// 0 stands for no limit.
    let maxCount: Int
    let deleteRule: String
    let spotlight: Bool
    let renamingIdentifier: String?
    let versionHashModifier: String?
    let userInfo: [String: ReportValue]?
    let versionHash: String?
  }
}

extension ModelReport.Attribute {
  init(_ attribute: AttributeDescription) {
    let validation = attribute.validation
    name = attribute.name
    type = attribute.type.modelName
    optional = attribute.isOptional
    transient = attribute.isTransient
    `default` = ReportValue(known: attribute.defaultValue)
    min = ReportValue(known: validation.minimum)
    max = ReportValue(known: validation.maximum)
    minLength = validation.minimumLength
    maxLength = validation.maximumLength
    matches = validation.regularExpression
    oneOf = validation.allowedValues?.map(ReportValue.init)
    let rules = validation.predicates.map { ModelReport.Rule(predicate: "\($0.predicate)", message: $0.message) }
    self.rules = rules.isEmpty ? nil : rules
    valueClass = attribute.valueClassName
    transformer = attribute.valueTransformerName
    derivation = attribute.derivationExpression
    elements = attribute.elements.isEmpty ? nil : attribute.elements.map(Self.init)
    externalStorage = attribute.allowsExternalBinaryDataStorage
    keepInHistory = attribute.preservesValueInHistoryOnDeletion
    cloudEncryption = attribute.allowsCloudEncryption
    spotlight = attribute.isIndexedBySpotlight
    scalar = attribute.usesScalarValueType
    indexed = attribute.isIndexed
    renamingIdentifier = attribute.renamingIdentifier
    versionHashModifier = attribute.versionHashModifier
    userInfo = ModelReport.userInfo(attribute.userInfo)
    // Transient properties are no part of the version.
    versionHash = attribute.isTransient ? nil : attribute.versionHash.hexadecimal
  }
}

extension ModelReport.Relationship {
  init(_ relationship: RelationshipDescription) {
    name = relationship.name
    destination = relationship.destinationEntityName
    inverse = relationship.inverseName
    optional = relationship.isOptional
    transient = relationship.isTransient
    toMany = relationship.isToMany
    ordered = relationship.isOrdered
    minCount = relationship.minCount
    maxCount = relationship.maxCount
    deleteRule = relationship.deleteRule.modelName
    spotlight = relationship.isIndexedBySpotlight
    renamingIdentifier = relationship.renamingIdentifier
    versionHashModifier = relationship.versionHashModifier
    userInfo = ModelReport.userInfo(relationship.userInfo)
    versionHash = relationship.isTransient ? nil : relationship.versionHash.hexadecimal
  }
}
