import MoonbaseModel

/// A property of a class of Swift.
struct SwiftProperty {
  enum Kind {
    case attribute(AttributeDescription)
    case toOne
    case toMany(isOrdered: Bool)
    case fetched
  }

  /// The name in the model.
  let name: String
  /// The name in Swift, without backticks.
  let swiftName: String
  let kind: Kind
  /// The type of an attribute, or the class at the other end.
  let type: String
  /// Lines of a comment.
  let comment: [String]
  /// The enumeration that the type is, with its name, where the model lists the values.
  var enumeration: (name: String, cases: SwiftEnumeration)?

  var written: String { SwiftName.written(swiftName) }

  var attribute: AttributeDescription? {
    if case .attribute(let attribute) = kind { attribute } else { nil }
  }

  var isToMany: Bool { if case .toMany = kind { true } else { false } }

  /// The type of the property: `String?`, `Department?`, `[Person]`.
  var valueType: String {
    switch kind {
    case .attribute: type
    case .toOne: "\(type)?"
    case .toMany, .fetched: "[\(type)]"
    }
  }

  /// The documentation in the user info, or a sentence.
  static func comment(_ userInfo: [String: Value], or sentence: String?) -> [String] {
    for key in ["documentation", "comment", "doc"] {
      if case .string(let text)? = userInfo[key], !text.isEmpty {
        return text.split(whereSeparator: \.isNewline).map { SwiftName.comment(String($0)) }
      }
    }
    return sentence.map { [$0] } ?? []
  }
}

/// Types of values in Swift.
enum SwiftType {
  /// The type of an attribute: that which the model names, or that of its values. An attribute that may be missing is
  /// optional, unless the model wants a scalar.
  static func of(_ attribute: AttributeDescription, in names: SwiftTypeNames) -> String {
    if let named = attribute.swiftTypeName { return named + mark(attribute) }
    guard let plain = plain(attribute.type) else { return names.written("Value") }
    return names.written(plain) + mark(attribute)
  }

  /// The question mark of an optional type.
  static func mark(_ attribute: AttributeDescription) -> String {
    let mayBeScalar = attribute.type.isNumeric && attribute.type != .decimal || attribute.type == .boolean
    return attribute.isOptional && !(attribute.usesScalarValueType && mayBeScalar) ? "?" : ""
  }

  /// Nil for what a program reads as a value of any kind.
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

/// Names of types that are none of the model's. Where a class of the model has such a name, its module stands before
/// it.
struct SwiftTypeNames {
  /// The names of the model's classes.
  let classes: Set<String>

  private static let modules: [String: String] = [
    "Int16": "Swift", "Int32": "Swift", "Int64": "Swift", "Int": "Swift", "Double": "Swift", "Float": "Swift",
    "Bool": "Swift", "String": "Swift", "Sequence": "Swift", "Date": "Foundation", "Decimal": "Foundation",
    "Data": "Foundation", "UUID": "Foundation", "URL": "Foundation", "CaseIterable": "Swift", "Codable": "Swift",
  ]

  private static let ofMoonbase: Set<String> = [
    "Value", "Attribute", "AttributeValue", "ToOne", "ToMany", "ManagedObject", "ManagedObjectContext",
    "ManagedObjectModel", "FetchRequest", "PropertyKeyPath", "TypedObject", "LuaModelFile", "ScriptSource",
  ]

  /// All names of types that generated code may have beside the model's.
  static let known = ofMoonbase.union(modules.keys)

  func written(_ name: String) -> String {
    classes.contains(name) ? "\(Self.modules[name] ?? "Moonbase").\(name)" : name
  }

  /// Whether a type comes from Foundation.
  static func isFoundations(_ type: String) -> Bool {
    ["Date", "Decimal", "Data", "UUID", "URL"].contains(type.split(separator: "?").first.map(String.init) ?? "")
      || type.hasPrefix("Foundation.")
  }
}
