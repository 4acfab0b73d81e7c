public import MoonbaseModel

/// Turns values of a transformable attribute into what the store keeps, and back.
///
/// Confined to the context whose registry made it. Neither function ever sees `.null`.
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
  /// The name of the class of its values; a value of another class is refused. Nil accepts every value.
  public var valueClassName: String?
  /// Converts a value to its stored form: `.data` for a transformable attribute, the shadow's type for a shadow
  /// attribute.
  public var transformedValue: (Value) throws -> Value
  /// Converts the stored form to a value. Nil makes the transformer one-way, which persistent attributes refuse.
  public var reverseTransformedValue: ((Value) throws -> Value)?
  /// The places where its functions are written, as `colors.lua:12`, for messages.
  package var places: [Direction: String] = [:]

  /// Whether this is the graph's default transformer.
  ///
  /// Its values cannot be mutated in place, and different bytes may stand for the same value.
  package private(set) var isDefault = false

  /// The two functions of a transformer.
  package enum Direction: String {
    case transform, reverse
  }

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

  /// Core Data's default transformer under one of its names.
  ///
  /// It reads and writes keyed archives of texts, numbers, dates, bytes, UUIDs, URIs, lists and maps. No object is
  /// instantiated: an archived object of another class is read as a map with the class's name under `$class`. A list is
  /// archived as an array, or as an object of `listClass`.
  package static func archiving(_ name: String = AppleNames.defaultTransformer, listClass: String = "NSArray") -> Self {
    var made = ValueTransformer(
      name, transformedValue: { .data(try ValueArchive.data(of: $0, listClass: listClass)) },
      reverseTransformedValue: { bytes in
        guard case .data(let data) = bytes else { return .null }
        return try ValueArchive.value(of: data)
      })
    made.isDefault = true
    return made
  }

  /// The error text for a transformer that returns null for a value.
  package func gaveNothing(_ direction: Direction, for input: String) -> String {
    "\(subject(direction)) gave nothing for \(input), which would be lost: let it return what it made, or raise"
  }

  /// The error text for a transformer that returns a value of the wrong kind.
  package func gave(_ value: Value, in direction: Direction, insteadOf wanted: String) -> String {
    "\(subject(direction)) gave \(value.typePhrase) instead of \(wanted)"
  }

  /// The phrase for one of its functions: `colors.lua:12: reverse of transformer Color`.
  private func subject(_ direction: Direction) -> String {
    "\(places[direction].map { "\($0): " } ?? "")\(direction) of transformer \(name)"
  }
}
