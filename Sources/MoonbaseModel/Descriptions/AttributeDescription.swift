/// An attribute of an entity.
///
/// ```swift
/// var age = AttributeDescription("age", type: .integer16)
/// age.isOptional = false
/// age.defaultValue = 0
/// ```
public struct AttributeDescription: Sendable, Hashable {
  /// The name, unique in the entity and its ancestors.
  public var name: String
  /// The declared type.
  public var type: AttributeType
  /// Whether the value may be missing; true by default, as in Core Data.
  public var isOptional: Bool = true
  /// Whether the value is kept in memory only and not in stores.
  public var isTransient: Bool = false
  /// The initial value of new objects.
  public var defaultValue: Value = .null
  /// The rules checked at validation.
  public var validation = AttributeValidation()
  /// The name of the class that values must have, for transformable and undefined attributes.
  public var valueClassName: String?
  /// The name of the value transformer of a transformable attribute; nil means the default transformer.
  public var valueTransformerName: String?
  /// Whether the store may keep large binary values in separate files.
  public var allowsExternalBinaryDataStorage: Bool = false
  /// Whether the value is kept in the history when the object is deleted.
  public var preservesValueInHistoryOnDeletion: Bool = false
  /// Whether Core Data may encrypt the value in CloudKit; kept, without effect here.
  public var allowsCloudEncryption: Bool = false
  /// Whether Spotlight indexes the value; kept, without effect here.
  public var isIndexedBySpotlight: Bool = false
  /// The expression of an SQL-derived attribute in Core Data's text form, for example `now()`.
  public var derivationExpression: String?
  /// Whether generated Swift code uses a scalar; without effect on values here.
  public var usesScalarValueType: Bool = false
  /// The legacy per-attribute index flag.
  public var isIndexed: Bool = false
  /// The elements of a composite attribute.
  public var elements: [AttributeDescription] = []
  /// The name in the previous version of the model; nil if the name is unchanged.
  public var renamingIdentifier: String?
  /// A text that enters the version hash, to give the attribute another hash where nothing else changes.
  public var versionHashModifier: String?
  /// Additional values from the model's author.
  public var userInfo: [String: Value] = [:]
  /// The type of the value in generated Swift code, for example `Status`. The user info holds the name, under `swift`.
  public var swiftTypeName: String? {
    get { if case .string(let name)? = userInfo["swift"] { name } else { nil } }
    set { userInfo["swift"] = newValue.map(Value.string) }
  }
  /// The place in the model's file.
  @IgnoredInEquality public var location: SourceLocation? = nil

  /// An attribute with Core Data's defaults: optional, persistent, no default value.
  public init(_ name: String, type: AttributeType) {
    self.name = name
    self.type = type
  }
}
