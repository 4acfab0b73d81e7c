public import MoonbasePlatform

/// A value of an attribute, of any type that a model can declare or a transformer can produce.
///
/// ```swift
/// let age: Value = 30
/// let tags: Value = ["a", "b"]
/// if case .int(let years) = age { print(years) }
/// ```
///
/// A `Value` is immutable and `Sendable`, with a stride of 24 bytes. To-one relationships are held as `.objectID`.
public enum Value: Sendable, Hashable {
  /// No value: SQL's NULL, Lua's nil, Core Data's nil.
  case null
  /// A truth value.
  case bool(Bool)
  /// An integer of any declared width.
  case int(Int64)
  /// A floating-point number, `Double` or `Float` in the model.
  case double(Double)
  /// A decimal number.
  case decimal(Decimal)
  /// A string.
  case string(String)
  /// A point in time.
  case date(Date)
  /// Bytes.
  case data(Data)
  /// A UUID.
  case uuid(UUID)
  /// A URI.
  case uri(URL)
  /// The ID of a managed object: an ObjectID attribute, or the destination of a to-one relationship.
  case objectID(ManagedObjectID)
  /// A list that a transformer produced, or the right side of `IN`.
  case list([Value])
  /// A map that a transformer produced.
  case map([String: Value])
  /// An object of a scripting domain, known elsewhere only by its class name.
  case object(OpaqueObject)
}

extension Value {
  /// Whether this is `.null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The kind of value, for error messages.
  public var typeDescription: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .int: "integer"
    case .double: "double"
    case .decimal: "decimal"
    case .string: "string"
    case .date: "date"
    case .data: "binary"
    case .uuid: "uuid"
    case .uri: "uri"
    case .objectID: "object ID"
    case .list: "list"
    case .map: "map"
    case .object(let object): object.className
    }
  }

  /// The type with its article, for messages.
  package var typePhrase: String {
    switch self {
    case .null: "null"
    case .int: "an integer"
    case .objectID: "an object ID"
    case .data: "binary data"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .object(let object): "a value of \(object.className)"
    case .bool, .double, .decimal, .string, .date, .list, .map: "a \(typeDescription)"
    }
  }
}

// `nil` is deliberately no literal of `Value`: in `isKnown ? value : nil`, which is meant as an optional, it would be
// `.null`.
extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes `.bool`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes `.int`.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// Makes `.double`.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Makes `.string`.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes `.list`.
  public init(arrayLiteral elements: Value...) { self = .list(elements) }
  /// Makes `.map`. The last of several equal keys is kept.
  public init(dictionaryLiteral elements: (String, Value)...) {
    self = .map(Dictionary(elements) { _, later in later })
  }
}
