extension AttributeType {
  /// The name in a Lua model and in messages, for example `integer16`.
  public var modelName: String {
    switch self {
    case .undefined: "undefined"
    case .integer16: "integer16"
    case .integer32: "integer32"
    case .integer64: "integer64"
    case .decimal: "decimal"
    case .double: "double"
    case .float: "float"
    case .string: "string"
    case .boolean: "boolean"
    case .date: "date"
    case .binaryData: "binary"
    case .uuid: "uuid"
    case .uri: "uri"
    case .transformable: "transformable"
    case .objectID: "object_id"
    case .composite: "composite"
    }
  }

  /// The name in an Xcode model, for example `Integer 16`.
  public var xcodeName: String {
    switch self {
    case .undefined: "Undefined"
    case .integer16: "Integer 16"
    case .integer32: "Integer 32"
    case .integer64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binaryData: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .objectID: "ObjectID"
    case .composite: "Composite"
    }
  }

  /// The type of a name in a Lua model.
  public init?(modelName: String) {
    guard let type = Self.allCases.first(where: { $0.modelName == modelName }) else { return nil }
    self = type
  }

  /// The type of a name in an Xcode model.
  public init?(xcodeName: String) {
    guard let type = Self.allCases.first(where: { $0.xcodeName == xcodeName }) else { return nil }
    self = type
  }

  /// Whether values are numbers of any width.
  package var isNumeric: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: true
    default: false
    }
  }

  /// The class that Core Data's archives name for values of the type.
  ///
  /// `moonbase` writes the name into archives. Types without a class, such as composites, give nil.
  package var foundationClassName: String? {
    switch self {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "NSString"
    case .date: "NSDate"
    case .binaryData: "NSData"
    case .uuid: "NSUUID"
    case .uri: "NSURL"
    case .objectID: "NSManagedObjectID"
    case .undefined, .transformable, .composite: nil
    }
  }
}
