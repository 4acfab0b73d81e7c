public import MoonbaseModel
public import MoonbasePlatform

// Inlinable, so that keys are read without generic code at run time: docs/development.md, "What the compiler is told".

/// A Swift type that an attribute's value can be read as.
///
/// ```swift
/// enum Size: String, AttributeValue {
///   case small, large
///
///   static func read(_ value: Value) -> Size? {
///     if case .string(let text) = value { Size(rawValue: text) } else { nil }
///   }
///   static var missing: Size { .small }
///   var attributeValue: Value { .string(rawValue) }
/// }
/// ```
public protocol AttributeValue: SendableMetatype {
  /// The value as this type; nil if it is of another kind.
  static func read(_ value: Value) -> Self?
  /// The same of a value in a row, of which no `Value` is made; nil leaves it to `read(_:)`, as types do that say nothing of it.
  static func read(cell: RawCell) -> Self?
  /// What stands for a value that is missing or cannot be read.
  static var missing: Self { get }
  /// This as a value.
  var attributeValue: Value { get }
  /// Hands this to `put` as a cell, and returns what that returns: whether the cell was taken. False leaves it to `attributeValue`, as
  /// types do that say nothing of it.
  func putCell(_ put: (RawCell) -> Bool) -> Bool
}

extension AttributeValue {
  /// Leaves it to `read(_:)`.
  @inlinable public static func read(cell: RawCell) -> Self? { nil }
  /// Leaves it to `attributeValue`.
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool { false }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Wrapped?? {
    value.isNull ? .some(nil) : Wrapped.read(value).map { $0 }
  }
  @inlinable public static func read(cell: RawCell) -> Wrapped?? {
    cell.kind == .null ? .some(nil) : Wrapped.read(cell: cell).map { $0 }
  }
  @inlinable public static var missing: Wrapped? { nil }
  @inlinable public var attributeValue: Value { self?.attributeValue ?? .null }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool { self?.putCell(put) ?? put(RawCell(.null)) }
}

extension FixedWidthInteger where Self: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Self? {
    if case .int(let number) = value { Self(exactly: number) } else { nil }
  }
  @inlinable public static func read(cell: RawCell) -> Self? { cell.kind == .int ? Self(exactly: cell.int) : nil }
  @inlinable public static var missing: Self { 0 }
  @inlinable public var attributeValue: Value { .int(Int64(self)) }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool {
    put(RawCell(.int, word: UInt64(bitPattern: Int64(self))))
  }
}

extension Int64: AttributeValue {}
extension Int32: AttributeValue {}
extension Int16: AttributeValue {}
extension Int: AttributeValue {}

extension Double: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Double? {
    if case .double(let number) = value { number } else { nil }
  }
  @inlinable public static func read(cell: RawCell) -> Double? { cell.kind == .double ? cell.double : nil }
  @inlinable public static var missing: Double { 0 }
  @inlinable public var attributeValue: Value { .double(self) }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool { put(RawCell(.double, word: bitPattern)) }
}

extension Float: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Float? { Double.read(value).map { Float($0) } }
  @inlinable public static func read(cell: RawCell) -> Float? { cell.kind == .double ? Float(cell.double) : nil }
  @inlinable public static var missing: Float { 0 }
  @inlinable public var attributeValue: Value { .double(Double(self)) }
}

extension Bool: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Bool? {
    if case .bool(let truth) = value { truth } else { nil }
  }
  @inlinable public static func read(cell: RawCell) -> Bool? { cell.kind == .bool ? cell.bool : nil }
  @inlinable public static var missing: Bool { false }
  @inlinable public var attributeValue: Value { .bool(self) }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool { put(RawCell(.bool, word: self ? 1 : 0)) }
}

extension String: AttributeValue {
  @inlinable public static func read(_ value: Value) -> String? {
    if case .string(let text) = value { text } else { nil }
  }
  @inlinable public static func read(cell: RawCell) -> String? {
    cell.kind == .text ? String(decoding: cell.bytes, as: UTF8.self) : nil
  }
  @inlinable public static var missing: String { "" }
  @inlinable public var attributeValue: Value { .string(self) }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool {
    utf8.withContiguousStorageIfAvailable { put(RawCell(.text, bytes: UnsafeRawBufferPointer($0))) } ?? false
  }
}

extension Date: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Date? { if case .date(let date) = value { date } else { nil } }
  @inlinable public static func read(cell: RawCell) -> Date? {
    cell.kind == .date ? Date(timeIntervalSinceReferenceDate: cell.double) : nil
  }
  @inlinable public static var missing: Date { Date(timeIntervalSinceReferenceDate: 0) }
  @inlinable public var attributeValue: Value { .date(self) }
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
  @inlinable public static var missing: Data { Data() }
  @inlinable public var attributeValue: Value { .data(self) }
  @inlinable public func putCell(_ put: (RawCell) -> Bool) -> Bool {
    withUnsafeBytes { put(RawCell(.data, bytes: $0)) }
  }
}

extension URL: AttributeValue {
  @inlinable public static func read(_ value: Value) -> URL? { if case .uri(let uri) = value { uri } else { nil } }
  @inlinable public static var missing: URL { URL(fileURLWithPath: "/") }
  @inlinable public var attributeValue: Value { .uri(self) }
}

extension Decimal: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Decimal? {
    if case .decimal(let number) = value { number } else { nil }
  }
  @inlinable public static var missing: Decimal { 0 }
  @inlinable public var attributeValue: Value { .decimal(self) }
}

extension UUID: AttributeValue {
  @inlinable public static func read(_ value: Value) -> UUID? { if case .uuid(let uuid) = value { uuid } else { nil } }
  @inlinable public static var missing: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
  @inlinable public var attributeValue: Value { .uuid(self) }
}

extension Value: AttributeValue {
  @inlinable public static func read(_ value: Value) -> Value? { value }
  @inlinable public static var missing: Value { .null }
  @inlinable public var attributeValue: Value { self }
}
