public import MoonbaseGraph
import MoonbaseModel

/// A typed key of an attribute whose values are of a class of an extension, or lists and maps: they are read as any
/// `Decodable` type.
///
/// ```swift
/// struct Color: Decodable { var r, g, b, a: Double }
///
/// final class Person: ManagedObject {
///   static let favoriteColor = DecodedAttribute<Person, Color>("favoriteColor")
/// }
/// ```
///
/// ```swift
/// let color = try person.decoded(Person.favoriteColor)
/// ```
///
/// Attributes of plain values, derived ones among them, have `Attribute` keys.
public struct DecodedAttribute<Owner: ManagedObject, Decoded: Decodable>: Sendable {
  /// The attribute's name.
  public let name: String

  /// Makes a key.
  public init(_ name: String) { self.name = name }
}

extension TypedObject where Self: ManagedObject {
  /// The value of an attribute as the key's type (`Value.decode(as:)`); nil for no value.
  ///
  /// Throws what reading the value throws, `.unknownName` where the entity has no such attribute, and what does not
  /// fit the type.
  public func decoded<Decoded: Decodable>(_ attribute: DecodedAttribute<Self, Decoded>) throws -> Decoded? {
    let value = try value(forKey: attribute.name)
    return value.isNull ? nil : try value.decode(as: Decoded.self)
  }
}
