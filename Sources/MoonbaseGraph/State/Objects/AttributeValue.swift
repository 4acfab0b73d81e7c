public import MoonbaseModel
public import MoonbasePlatform

// Inlinable, so that keys are read without generic code at run time: docs/development.md, "What the compiler is told".

/// A Swift type as which an attribute's value can be read.
///
/// An enumeration with raw values, and a type that is `Codable`, only need the property `defaultWhenNull`:
///
/// ```swift
/// enum Size: String, AttributeValue {
///   case small, large
///   static var defaultWhenNull: Size { .small }
/// }
///
/// struct Frame: Codable, AttributeValue {
///   var width = 0.0, height = 0.0
///   static var defaultWhenNull: Frame { Frame() }
/// }
/// ```
///
/// A `Frame` is stored as a tree of lists and maps, like its JSON, in a transformable attribute.
public protocol AttributeValue: ValueConvertible, SendableMetatype {
  /// The value as this type; nil if the value is of another kind.
  static func read(_ value: Value) -> Self?
  /// The value of a row's cell as this type, without an intermediate `Value`; nil leaves the conversion to `read(_:)`.
  ///
  /// By default returns nil.
  static func read(cell: RawCell) -> Self?
  /// The replacement for a value that is null or cannot be read.
  static var defaultWhenNull: Self { get }
  /// Passes this value as a cell to `put`, and returns whether `put` accepted the cell.
  ///
  /// False, the default, leaves the conversion to `attributeValue`.
  func putCell(_ put: (RawCell) -> Bool) -> Bool
}

extension AttributeValue {
  /// Returns nil, so that `read(_:)` is used.
  @inlinable public static func read(cell: RawCell) -> Self? { nil }
  /// Returns false, so that `attributeValue` is used.
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool { false }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Wrapped?? {
    value.isNull ? .some(nil) : Wrapped.read(value).map { $0 }
  }
  @inlinable public static func read(cell: RawCell) -> Wrapped?? {
    cell.kind == .null ? .some(nil) : Wrapped.read(cell: cell).map { $0 }
  }
  @inlinable public static var defaultWhenNull: Wrapped? { nil }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool { self?.putCell(put) ?? put(RawCell(.null)) }
}

extension FixedWidthInteger where Self: AttributeValue & Codable {
  @inlinable public static func read(_ value: Value) -> Self? {
    if case .int(let number) = value { Self(exactly: number) } else { nil }
  }
  @inlinable public static func read(cell: RawCell) -> Self? { cell.kind == .int ? Self(exactly: cell.int) : nil }
  @inlinable public static var defaultWhenNull: Self { 0 }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool {
    guard let number = Int64(exactly: self) else { return false }
    return put(RawCell(.int, word: UInt64(bitPattern: number)))
  }
}

extension Int: AttributeValue {}
extension Int8: AttributeValue {}
extension Int16: AttributeValue {}
extension Int32: AttributeValue {}
extension Int64: AttributeValue {}
extension UInt: AttributeValue {}
extension UInt8: AttributeValue {}
extension UInt16: AttributeValue {}
extension UInt32: AttributeValue {}
extension UInt64: AttributeValue {}

extension Double: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Double? {
    if case .double(let number) = value { number } else { nil }
  }
  @inlinable public static func read(cell: RawCell) -> Double? { cell.kind == .double ? cell.double : nil }
  @inlinable public static var defaultWhenNull: Double { 0 }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool { put(RawCell(.double, word: bitPattern)) }
}

extension Float: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Float? { Double.read(value).map { Float($0) } }
  @inlinable public static func read(cell: RawCell) -> Float? { cell.kind == .double ? Float(cell.double) : nil }
  @inlinable public static var defaultWhenNull: Float { 0 }
}

extension Bool: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Bool? {
    if case .bool(let truth) = value { truth } else { nil }
  }
  @inlinable public static func read(cell: RawCell) -> Bool? { cell.kind == .bool ? cell.bool : nil }
  @inlinable public static var defaultWhenNull: Bool { false }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool { put(RawCell(.bool, word: self ? 1 : 0)) }
}

extension String: AttributeValue {
  @inlinable public static func read(_ value: Value) -> String? {
    if case .string(let text) = value { text } else { nil }
  }
  @inlinable public static func read(cell: RawCell) -> String? {
    cell.kind == .text ? String(decoding: cell.bytes, as: UTF8.self) : nil
  }
  @inlinable public static var defaultWhenNull: String { "" }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool {
    utf8.withContiguousStorageIfAvailable { put(RawCell(.text, bytes: UnsafeRawBufferPointer($0))) } ?? false
  }
}

extension Date: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Date? { if case .date(let date) = value { date } else { nil } }
  @inlinable public static func read(cell: RawCell) -> Date? {
    cell.kind == .date ? Date(timeIntervalSinceReferenceDate: cell.double) : nil
  }
  @inlinable public static var defaultWhenNull: Date { Date(timeIntervalSinceReferenceDate: 0) }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool {
    put(RawCell(.date, word: timeIntervalSinceReferenceDate.bitPattern))
  }
}

extension Data: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Data? { if case .data(let data) = value { data } else { nil } }
  @inlinable public static func read(cell: RawCell) -> Data? {
    guard cell.kind == .data else { return nil }
    guard let start = cell.bytes.baseAddress else { return Data() }
    return Data(bytes: start, count: cell.bytes.count)
  }
  @inlinable public static var defaultWhenNull: Data { Data() }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool {
    withUnsafeBytes { put(RawCell(.data, bytes: $0)) }
  }
}

extension URL: AttributeValue {
  @inlinable public static func read(_ value: Value) -> URL? { if case .uri(let uri) = value { uri } else { nil } }
  @inlinable public static var defaultWhenNull: URL { URL(fileURLWithPath: "/") }
}

extension Decimal: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Decimal? {
    if case .decimal(let number) = value { number } else { nil }
  }
  @inlinable public static var defaultWhenNull: Decimal { 0 }
}

extension UUID: AttributeValue {
  @inlinable public static func read(_ value: Value) -> UUID? { if case .uuid(let uuid) = value { uuid } else { nil } }
  @inlinable public static var defaultWhenNull: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension Value: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Value? { value }
  @inlinable public static var defaultWhenNull: Value { .null }
}

extension Array: AttributeValue where Element: AttributeValue {
  /// Reads a list whose elements are all of the type.
  public static func read(_ value: Value) -> [Element]? {
    guard case .list(let list) = value else { return nil }
    let elements = list.compactMap(Element.read)
    return elements.count == list.count ? elements : nil
  }
  public static var defaultWhenNull: [Element] { [] }
}

extension Dictionary: AttributeValue where Key == String, Value: AttributeValue {
  /// Reads a map whose values are all of the type.
  public static func read(_ value: MoonbaseModel.Value) -> [String: Value]? {
    guard case .map(let map) = value else { return nil }
    let values = map.compactMapValues(Value.read)
    return values.count == map.count ? values : nil
  }
  public static var defaultWhenNull: [String: Value] { [:] }
}

// MARK: Defaults

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// Reads the case with a raw value.
  @inlinable public static func read(_ value: Value) -> Self? { RawValue.read(value).flatMap(Self.init(rawValue:)) }
  @inlinable public static func read(cell: RawCell) -> Self? { RawValue.read(cell: cell).flatMap(Self.init(rawValue:)) }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool { rawValue.putCell(put) }
}

extension AttributeValue where Self: RawRepresentable & Codable, RawValue: AttributeValue {
  /// Reads the case with a raw value.
  @inlinable public static func read(_ value: Value) -> Self? { RawValue.read(value).flatMap(Self.init(rawValue:)) }
  @inlinable public var attributeValue: Value { rawValue.attributeValue }
}

extension AttributeValue where Self: Codable {
  /// Decodes a tree of lists and maps.
  public static func read(_ value: Value) -> Self? { try? CodedValue<Self>(value).content }
  /// Encodes to a tree of lists and maps. If encoding fails, the assignment of the result is refused.
  public var attributeValue: Value {
    do { return try CodedValue(self).attributeValue } catch { return .object(OpaqueObject(damage: error, digest: 0)) }
  }
}
