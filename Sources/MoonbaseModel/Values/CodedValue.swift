import MoonbasePlatform

/// A value of any `Codable` type as a value of an attribute: a tree of lists and maps, as its JSON is.
///
/// ```swift
/// struct Size: Codable { var width, height: Double }
///
/// try box.setValue(CodedValue(Size(width: 2, height: 3)), forKey: "size")
/// let size = try CodedValue<Size>(box.value(forKey: "size")).content
/// ```
public struct CodedValue<Content: Codable>: ValueConvertible {
  /// The value of the type.
  public let content: Content
  public let attributeValue: Value

  /// Encodes a value. Throws what its `encode` throws, and `EncodingError` for numbers that are not finite.
  public init(_ content: Content) throws {
    self.content = content
    attributeValue = try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(content))
  }

  /// Decodes a value of an attribute. Throws `DecodingError` where it does not fit the type.
  public init(_ value: Value) throws {
    content = try JSONDecoder().decode(Content.self, from: JSONEncoder().encode(CodableForm(value: value)))
    attributeValue = value
  }
}

extension CodedValue: Sendable where Content: Sendable {}
