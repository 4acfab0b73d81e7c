public import MoonbasePlatform

/// A type whose values become values of attributes and arguments of predicates by themselves.
///
/// Swift's numbers, texts, truth values, dates, bytes, UUIDs, URLs, object IDs and managed objects are convertible, and
/// so are optionals, arrays, sets and dictionaries of these. A type of an app needs one line:
///
/// ```swift
/// enum Status: String, ValueConvertible { case open, closed }
///
/// let status = Status.open
/// let request = try FetchRequest("Task", where: "status == %@ AND age > %@", status, 3)
/// ```
///
/// Types with `Codable` alone are wrapped in `CodedValue`.
public protocol ValueConvertible {
  /// This as a value of an attribute.
  var attributeValue: Value { get }
}

/// Values by name, as `["name": name, "age": age, "born": nil]`.
public typealias ConvertibleValues = [String: (any ValueConvertible)?]

extension [String: Value] {
  /// Converts each value. `nil` becomes `.null`.
  @inlinable public init(_ values: ConvertibleValues) { self = values.mapValues { $0?.attributeValue ?? .null } }
}

extension [Value] {
  /// Converts each value of a list of arguments.
  @inlinable public init<each Part: ValueConvertible>(converting parts: repeat each Part) {
    self = []
    for part in repeat each parts { append(part.attributeValue) }
  }
}

extension Value: ValueConvertible {
  /// This value.
  @inlinable public var attributeValue: Value { self }
}

extension Optional: ValueConvertible where Wrapped: ValueConvertible {
  /// `.null` for `nil`.
  @inlinable public var attributeValue: Value { self?.attributeValue ?? .null }
}

extension ValueConvertible where Self: FixedWidthInteger {
  /// An integer; a decimal number where 64 bits with a sign do not hold it.
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
  @inlinable public var attributeValue: Value { .double(self) }
}

extension Float: ValueConvertible {
  @inlinable public var attributeValue: Value { .double(Double(self)) }
}

extension Bool: ValueConvertible {
  @inlinable public var attributeValue: Value { .bool(self) }
}

extension String: ValueConvertible {
  @inlinable public var attributeValue: Value { .string(self) }
}

extension Substring: ValueConvertible {
  @inlinable public var attributeValue: Value { .string(String(self)) }
}

extension Date: ValueConvertible {
  @inlinable public var attributeValue: Value { .date(self) }
}

extension Data: ValueConvertible {
  @inlinable public var attributeValue: Value { .data(self) }
}

extension URL: ValueConvertible {
  @inlinable public var attributeValue: Value { .uri(self) }
}

extension Decimal: ValueConvertible {
  @inlinable public var attributeValue: Value { .decimal(self) }
}

extension UUID: ValueConvertible {
  @inlinable public var attributeValue: Value { .uuid(self) }
}

extension ManagedObjectID: ValueConvertible {
  @inlinable public var attributeValue: Value { .objectID(self) }
}

extension Array: ValueConvertible where Element: ValueConvertible {
  /// A list.
  @inlinable public var attributeValue: Value { .list(map(\.attributeValue)) }
}

extension Set: ValueConvertible where Element: ValueConvertible {
  /// A list in any order.
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
