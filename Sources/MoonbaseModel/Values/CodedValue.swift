import MoonbasePlatform

/// A value of a `Codable` type as an attribute value: a tree of lists and maps like its JSON.
///
/// ```swift
/// struct Size: Codable { var width, height: Double }
///
/// try box.setValue(CodedValue(Size(width: 2, height: 3)), forKey: "size")
/// let size = try CodedValue<Size>(box.value(forKey: "size")).content
/// ```
public struct CodedValue<Content: Codable>: ValueConvertible {
  /// The typed value.
  public let content: Content
  /// The value as an attribute value.
  public let attributeValue: Value

  /// Encodes a value. Throws errors of its `encode`, and `EncodingError` for numbers that are not finite.
  public init(_ content: Content) throws {
    self.content = content
    attributeValue = try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(content))
  }

  /// Decodes an attribute value. Throws `DecodingError` if it does not fit the type.
  public init(_ value: Value) throws {
    content = try JSONDecoder().decode(Content.self, from: JSONEncoder().encode(CodableForm(value: value)))
    attributeValue = value
  }
}

extension CodedValue: Sendable where Content: Sendable {}
