import MoonbaseModel

/// A property of a Swift class.
///
/// `SwiftClasses` makes the values; names and types are final and only need to be written.
struct SwiftProperty {
  /// The kind of a property, which determines its accessors.
  enum Kind {
    /// An attribute.
    case attribute(AttributeDescription)
    /// A to-one relationship.
    case toOne
    /// A to-many relationship.
    case toMany(isOrdered: Bool)
    /// A fetched property, which is read-only.
    case fetched
  }

  /// The name in the model.
  let name: String
  /// The name in Swift, without backticks.
  let swiftName: String
  /// The kind of the property.
  let kind: Kind
  /// The type of an attribute, or the class of the destination.
  let type: String
  /// Lines of a comment.
  let comment: [String]
  /// The enumeration of the type with its name, if the model lists the values.
  var enumeration: (name: String, cases: SwiftEnumeration)?

  /// The name as written in source.
  var written: String { SwiftName.written(swiftName) }

  /// The attribute; nil for other kinds.
  var attribute: AttributeDescription? {
    if case .attribute(let attribute) = kind { attribute } else { nil }
  }

  /// Whether it is a to-many relationship.
  var isToMany: Bool { if case .toMany = kind { true } else { false } }

  /// The type of the property: `String?`, `Department?`, `[Person]`.
  var valueType: String {
    switch kind {
    case .attribute: type
    case .toOne: "\(type)?"
    case .toMany, .fetched: "[\(type)]"
    }
  }

  /// The documentation in the user info, or a default sentence.
  ///
  /// The keys `documentation`, `comment` and `doc` are looked up in this order.
  static func comment(_ userInfo: [String: Value], or sentence: String?) -> [String] {
    for key in ["documentation", "comment", "doc"] {
      if case .string(let text)? = userInfo[key], !text.isEmpty {
        return text.split(whereSeparator: \.isNewline).map { SwiftName.comment(String($0)) }
      }
    }
    return sentence.map { [$0] } ?? []
  }
}

/// The Swift types of values.
///
/// The functions are shared by properties and enumerations.
enum SwiftType {
  /// The type of an attribute: the type declared in the model, or that of its values. Optional if the value may be
  /// missing, unless the model requests a scalar.
  ///
  /// Types without a counterpart in Swift become `Value`.
  static func of(_ attribute: AttributeDescription, in names: SwiftTypeNames) -> String {
    if let named = attribute.swiftTypeName { return named + mark(attribute) }
    guard let plain = plain(attribute.type) else { return names.written("Value") }
    return names.written(plain) + mark(attribute)
  }

  /// The question mark of an optional type; empty otherwise.
  ///
  /// Only numbers and booleans can be scalars, as in Xcode.
  static func mark(_ attribute: AttributeDescription) -> String {
    let mayBeScalar = attribute.type.isNumeric && attribute.type != .decimal || attribute.type == .boolean
    return attribute.isOptional && !(attribute.usesScalarValueType && mayBeScalar) ? "?" : ""
  }

  /// The Swift type; nil for a type with values of any kind.
  ///
  /// For example, `Int16` for `integer16`.
  static func plain(_ type: AttributeType) -> String? {
    switch type {
    case .integer16: "Int16"
    case .integer32: "Int32"
    case .integer64: "Int64"
    case .double: "Double"
    case .float: "Float"
    case .boolean: "Bool"
    case .string: "String"
    case .date: "Date"
    case .decimal: "Decimal"
    case .binaryData: "Data"
    case .uuid: "UUID"
    case .uri: "URL"
    case .transformable, .undefined, .objectID, .composite: nil
    }
  }
}

/// Names of types outside of the model. If a class of the model has the same name, the module is prepended.
///
/// For example, if the model has a class `Date`, generated code writes `Foundation.Date`.
struct SwiftTypeNames {
  /// The names of the model's classes.
  let classes: Set<String>

  /// The module of each type of the standard library and Foundation.
  private static let modules: [String: String] = [
    "Int16": "Swift", "Int32": "Swift", "Int64": "Swift", "Int": "Swift", "Double": "Swift", "Float": "Swift",
    "Bool": "Swift", "String": "Swift", "Sequence": "Swift", "Date": "Foundation", "Decimal": "Foundation",
    "Data": "Foundation", "UUID": "Foundation", "URL": "Foundation", "CaseIterable": "Swift", "Codable": "Swift",
  ]

  /// The types of Moonbase in generated code.
  private static let ofMoonbase: Set<String> = [
    "Value", "Attribute", "AttributeValue", "ToOne", "ToMany", "ManagedObject", "ManagedObjectContext",
    "ManagedObjectModel", "FetchRequest", "PropertyKeyPath", "TypedObject", "LuaModelFile", "ScriptSource",
  ]

  /// All names of types that generated code may use besides the model's.
  static let known = ofMoonbase.union(modules.keys)

  /// The name as written in source.
  func written(_ name: String) -> String {
    classes.contains(name) ? "\(Self.modules[name] ?? "Moonbase").\(name)" : name
  }

  /// Whether a type comes from Foundation.
  ///
  /// An optional type counts by its plain type.
  static func isFoundations(_ type: String) -> Bool {
    ["Date", "Decimal", "Data", "UUID", "URL"].contains(type.split(separator: "?").first.map(String.init) ?? "")
      || type.hasPrefix("Foundation.")
  }
}
