public import MoonbasePlatform

/// The value as a Swift type; nil for a value of another type.
///
/// ```swift
/// let age = person["age"].int ?? 0
/// ```
extension Value {
  /// The truth value.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The integer; nil for a double, even a whole one.
  public var int: Int64? { if case .int(let value) = self { value } else { nil } }
  /// The floating-point number; nil for an integer.
  public var double: Double? { if case .double(let value) = self { value } else { nil } }
  /// The decimal number.
  public var decimal: Decimal? { if case .decimal(let value) = self { value } else { nil } }
  /// The string.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The point in time.
  public var date: Date? { if case .date(let value) = self { value } else { nil } }
  /// The bytes.
  public var data: Data? { if case .data(let value) = self { value } else { nil } }
  /// The UUID.
  public var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }
  /// The URI.
  public var uri: URL? { if case .uri(let value) = self { value } else { nil } }
  /// The ID of a managed object.
  public var objectID: ManagedObjectID? { if case .objectID(let value) = self { value } else { nil } }
  /// The elements of a list.
  public var list: [Value]? { if case .list(let value) = self { value } else { nil } }
  /// The entries of a map.
  public var map: [String: Value]? { if case .map(let value) = self { value } else { nil } }
  /// The object of a scripting domain.
  public var object: OpaqueObject? { if case .object(let value) = self { value } else { nil } }
}
