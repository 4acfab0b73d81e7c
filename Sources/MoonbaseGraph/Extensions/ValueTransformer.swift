public import MoonbaseModel

/// Turns values of a transformable attribute into what the store keeps, and back.
///
/// Confined to the context whose domain made it. Neither function ever sees `.null`.
///
/// ```swift
/// let reversed = ValueTransformer(
///   "Reversed",
///   transformedValue: { value in
///     guard case .data(let data) = value else { throw GraphError(.invalidValue, message: "bytes are wanted") }
///     return .data(Data(data.reversed()))
///   },
///   reverseTransformedValue: { value in
///     guard case .data(let data) = value else { throw GraphError(.invalidValue, message: "bytes are wanted") }
///     return .data(Data(data.reversed()))
///   })
/// ```
public struct ValueTransformer {
  /// The registered name.
  public var name: String
  /// The name of the class of its values; assignments of another class are refused. Nil accepts every value.
  public var valueClassName: String?
  /// Value to stored form: `.data` for a transformable attribute, the shadow's type for a shadow attribute.
  public var transformedValue: (Value) throws -> Value
  /// Stored form to value; nil makes the transformer one-way, which persistent attributes refuse.
  public var reverseTransformedValue: ((Value) throws -> Value)?
  /// Where it is written, as `colors.lua:12`, for messages.
  package var place: String?

  /// Makes a transformer.
  public init(
    _ name: String, valueClassName: String? = nil, transformedValue: @escaping (Value) throws -> Value,
    reverseTransformedValue: ((Value) throws -> Value)? = nil
  ) {
    self.name = name
    self.valueClassName = valueClassName
    self.transformedValue = transformedValue
    self.reverseTransformedValue = reverseTransformedValue
  }

  /// What is wrong with a transformer that turns something into nothing.
  package func gaveNothing(direction: String, for input: String) -> String {
    "\(placePrefix)\(direction) of transformer \(name) gave nothing for \(input), which would be lost: let it return what it made, or raise"
  }

  /// Where it is written, for the beginning of a message.
  package var placePrefix: String { place.map { "\($0): " } ?? "" }
}
