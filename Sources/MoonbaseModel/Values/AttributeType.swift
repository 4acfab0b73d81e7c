/// The type of an attribute. The raw values are those of Core Data's `NSAttributeType`.
///
/// ```swift
/// let age = AttributeDescription("age", type: .integer16)
/// ```
public enum AttributeType: Int, Sendable, Hashable, CaseIterable {
  /// No declared type, for transient attributes with values of any class.
  case undefined = 0
  /// −32,768 to 32,767.
  case integer16 = 100
  /// −2,147,483,648 to 2,147,483,647.
  case integer32 = 200
  /// A 64-bit integer.
  case integer64 = 300
  /// A decimal number of up to 38 digits.
  case decimal = 400
  /// A 64-bit floating-point number.
  case double = 500
  /// A 32-bit floating-point number.
  case float = 600
  /// A string.
  case string = 700
  /// A truth value.
  case boolean = 800
  /// A point in time, stored as seconds since 2001-01-01 UTC.
  case date = 900
  /// Bytes.
  case binaryData = 1000
  /// A UUID.
  case uuid = 1100
  /// A URI.
  case uri = 1200
  /// A value of any class that a value transformer turns into bytes.
  case transformable = 1800
  /// The ID of an object; cannot be stored.
  case objectID = 2000
  /// A group of attributes under a common name.
  case composite = 2100
}
