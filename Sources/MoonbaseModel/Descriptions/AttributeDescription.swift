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
  /// Whether the value may be missing; true unless said otherwise, as in Core Data.
  public var isOptional: Bool = true
  /// Whether the value is kept in memory only.
  public var isTransient: Bool = false
  /// The value a new object gets.
  public var defaultValue: Value = .null
  /// What a value must satisfy at validation.
  public var validation = AttributeValidation()
  /// The name of the class that values must have, for transformable and undefined attributes.
  public var valueClassName: String?
  /// The name of the value transformer of a transformable attribute; nil names the default.
  public var valueTransformerName: String?
  /// Whether large binary values may be kept in files beside the store.
  public var allowsExternalBinaryDataStorage: Bool = false
  /// Whether the value is kept in the history when the object is deleted.
  public var preservesValueInHistoryOnDeletion: Bool = false
  /// Whether Core Data may encrypt the value in CloudKit; kept, without effect here.
  public var allowsCloudEncryption: Bool = false
  /// Whether Spotlight indexes the value; kept, without effect here.
  public var isIndexedBySpotlight: Bool = false
  /// Core Data's SQL-derived attributes: the expression in Core Data's own text form, for example `now()`.
  public var derivationExpression: String?
  /// Whether generated Swift code uses a scalar; without effect on values here.
  public var usesScalarValueType: Bool = false
  /// The legacy per-attribute index flag.
  public var isIndexed: Bool = false
  /// The elements of a composite attribute.
  public var elements: [AttributeDescription] = []
  /// The name in the previous version of the model.
  public var renamingIdentifier: String?
  /// Changes the version hash where nothing else does.
  public var versionHashModifier: String?
  /// Whatever the model's author attached.
  public var userInfo: [String: Value] = [:]
  /// The type of the value in generated Swift code, for example `Status`. The user info holds the name, under `swift`.
  public var swiftTypeName: String? {
    get { if case .string(let name)? = userInfo["swift"] { name } else { nil } }
    set { userInfo["swift"] = newValue.map(Value.string) }
  }
  /// Where the attribute was written.
  @IgnoredInEquality public var location: SourceLocation? = nil

  /// An attribute with Core Data's defaults: optional, persistent, no default value.
  public init(_ name: String, type: AttributeType) {
    self.name = name
    self.type = type
  }
}
