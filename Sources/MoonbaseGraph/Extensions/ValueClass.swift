public import MoonbaseModel

/// A class of attribute values, known by its registered name so that values survive a reload of their code.
///
/// ```swift
/// let words = ValueClass("Words") { value in
///   guard case .list(let values) = value else { return false }
///   return values.allSatisfy { if case .string = $0 { true } else { false } }
/// }
/// ```
public struct ValueClass {
  /// The registered name, as `class` in a model or `valueClassName` in a transformer says it.
  public var name: String
  /// Whether a value is of the class.
  public var contains: (Value) throws -> Bool
  /// The text for a value in a file, as `parse` reads it; nil for a class that has no such text.
  public var text: ((Value) throws -> String)?
  /// The value that a text stands for. Throws `.invalidValue` for one that is none. An attribute of the class takes
  /// texts by it.
  public var parse: ((String) throws -> Value)?
  /// The value that a list or a map of plain values stands for (`from_tree` of a class of Lua). Throws `.invalidValue`
  /// for one that is none. An attribute of the class takes lists and maps by it.
  public var fromTree: ((Value) throws -> Value)?

  /// Makes a class of values.
  public init(_ name: String, contains: @escaping (Value) throws -> Bool) {
    self.name = name
    self.contains = contains
  }

  /// The function that an assigned value needs and the class lacks.
  func advice(for value: Value) -> String {
    switch value {
    case .string: ": give the class a function parse, which makes values of texts"
    case .list, .map: ": give the class a function from_tree, which makes values of lists and maps"
    default: ""
    }
  }
}
