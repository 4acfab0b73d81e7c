public import MoonbasePlatform

/// A type whose values convert to attribute values and predicate arguments.
///
/// Swift's numbers, strings, booleans, dates, data, UUIDs, URLs, object IDs and managed objects conform, as do
/// optionals, arrays, sets and dictionaries of these. A type of an app needs a single line:
///
/// ```swift
/// enum Status: String, ValueConvertible { case open, closed }
///
/// let status = Status.open
/// let request = try FetchRequest("Task", where: "status == %@ AND age > %@", status, 3)
/// ```
///
/// Types that are only `Codable` can be wrapped in `CodedValue`.
public protocol ValueConvertible {
  /// The value as an attribute value.
  var attributeValue: Value { get }
}

/// Values by name, as `["name": name, "age": age, "born": nil]`.
public typealias ConvertibleValues = [String: (any ValueConvertible)?]

extension [String: Value] {
  /// Converts each value. `nil` becomes `.null`.
  @inlinable public init(_ values: ConvertibleValues) { self = values.mapValues { $0?.attributeValue ?? .null } }
}

extension [Value] {
  /// Converts each argument of a list.
  @inlinable public init<each Part: ValueConvertible>(converting parts: repeat each Part) {
    self = []
    for part in repeat each parts { append(part.attributeValue) }
  }
}

extension Value: ValueConvertible {
  /// The value itself.
  @inlinable public var attributeValue: Value { self }
}

extension Optional: ValueConvertible where Wrapped: ValueConvertible {
  /// `.null` for `nil`.
  @inlinable public var attributeValue: Value { self?.attributeValue ?? .null }
}

extension ValueConvertible where Self: FixedWidthInteger {
  /// An integer, or a decimal if it does not fit in a signed 64-bit integer.
  @inlinable public var attributeValue: Value {
    if let number = Int64(exactly: self) { return .int(number) }
    return Decimal(string: description).map(Value.decimal) ?? .double(Double(self))
  }
}

extension Int: ValueConvertible {}
extension Int8: ValueConvertible {}
extension Int16: ValueConvertible {}
extension Int32: ValueConvertible {}
extension Int64: ValueConvertible {}
extension UInt: ValueConvertible {}
extension UInt8: ValueConvertible {}
extension UInt16: ValueConvertible {}
extension UInt32: ValueConvertible {}
extension UInt64: ValueConvertible {}

extension Double: ValueConvertible {
  /// A floating-point number.
  @inlinable public var attributeValue: Value { .double(self) }
}

extension Float: ValueConvertible {
  /// A floating-point number.
  @inlinable public var attributeValue: Value { .double(Double(self)) }
}

extension Bool: ValueConvertible {
  /// A boolean.
  @inlinable public var attributeValue: Value { .bool(self) }
}

extension String: ValueConvertible {
  /// A string.
  @inlinable public var attributeValue: Value { .string(self) }
}

extension Substring: ValueConvertible {
  /// A string.
  @inlinable public var attributeValue: Value { .string(String(self)) }
}

extension Date: ValueConvertible {
  /// A date.
  @inlinable public var attributeValue: Value { .date(self) }
}

extension Data: ValueConvertible {
  /// Binary data.
  @inlinable public var attributeValue: Value { .data(self) }
}

extension URL: ValueConvertible {
  /// A URI.
  @inlinable public var attributeValue: Value { .uri(self) }
}

extension Decimal: ValueConvertible {
  /// A decimal number.
  @inlinable public var attributeValue: Value { .decimal(self) }
}

extension UUID: ValueConvertible {
  /// A UUID.
  @inlinable public var attributeValue: Value { .uuid(self) }
}

extension ManagedObjectID: ValueConvertible {
  /// An object ID.
  @inlinable public var attributeValue: Value { .objectID(self) }
}

extension Array: ValueConvertible where Element: ValueConvertible {
  /// A list.
  @inlinable public var attributeValue: Value { .list(map(\.attributeValue)) }
}

extension Set: ValueConvertible where Element: ValueConvertible {
  /// A list in unspecified order.
  @inlinable public var attributeValue: Value { .list(map(\.attributeValue)) }
}

extension Dictionary: ValueConvertible where Key == String, Value: ValueConvertible {
  /// A map.
  @inlinable public var attributeValue: MoonbaseModel.Value { .map(mapValues(\.attributeValue)) }
}

extension ValueConvertible where Self: RawRepresentable, RawValue: ValueConvertible {
  /// The raw value.
  @inlinable public var attributeValue: Value { rawValue.attributeValue }
}
