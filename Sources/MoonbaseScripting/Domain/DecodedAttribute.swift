public import MoonbaseGraph
import MoonbaseModel

/// A typed key of an attribute with lists, maps or values of an extension's class, which are read as a `Decodable`
/// type.
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
/// Attributes of plain values, derived attributes included, have `Attribute` keys.
///
/// The key is typed for the owner, so that reading needs no cast: the compiler refuses the key of another class.
/// Decoding happens at each access; keep the result where it is used repeatedly.
public struct DecodedAttribute<Owner: ManagedObject, Decoded: Decodable>: Sendable {
  /// The attribute's name.
  public let name: String

  /// A key for the attribute with this name.
  public init(_ name: String) { self.name = name }
}

extension TypedObject where Self: ManagedObject {
  /// The value of an attribute as the key's type (`Value.decode(as:)`); nil if there is no value.
  ///
  /// Throws errors from reading the value, `.unknownName` if the entity has no such attribute, and decoding errors.
  public func decoded<Decoded: Decodable>(_ attribute: DecodedAttribute<Self, Decoded>) throws -> Decoded? {
    let value = try value(forKey: attribute.name)
    return value.isNull ? nil : try value.decode(as: Decoded.self)
  }
}
