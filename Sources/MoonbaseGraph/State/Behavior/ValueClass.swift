public import MoonbaseModel

/// A class of attribute values, identified by its registered name so that values survive a reload of their code.
///
/// ```swift
/// let words = ValueClass("Words") { value in
///   guard case .list(let values) = value else { return false }
///   return values.allSatisfy { if case .string = $0 { true } else { false } }
/// }
/// ```
public struct ValueClass {
  /// The registered name, as models (`class`) and transformers (`valueClassName`) refer to it.
  public var name: String
  /// Whether a value belongs to the class.
  public var contains: (Value) throws -> Bool
  /// Makes the text for a value in a file, which `parse` reads back; nil if the class has no such text.
  public var text: ((Value) throws -> String)?
  /// Makes the value of a text. Throws `.invalidValue` for a malformed text. Attributes of the class accept texts by
  /// it.
  public var parse: ((String) throws -> Value)?
  /// Makes the value of a list or map of plain values (`from_tree` of a class of Lua). Throws `.invalidValue` for a
  /// malformed tree. Attributes of the class accept lists and maps by it.
  public var fromTree: ((Value) throws -> Value)?

  /// Makes a class of values.
  public init(_ name: String, contains: @escaping (Value) throws -> Bool) {
    self.name = name
    self.contains = contains
  }

  /// The function of the class that makes values of such a value: `parse` for a text, `from_tree` for a list or map.
  /// Nil if the class lacks the function.
  func conversion(of value: Value) -> (function: String, make: () throws -> Value)? {
    switch value {
    case .string(let text): parse.map { parse in ("parse", { try parse(text) }) }
    case .list, .map: fromTree.map { fromTree in ("from_tree", { try fromTree(value) }) }
    default: nil
    }
  }

  /// Advice to add the function that the class lacks to convert an assigned value; empty for other values.
  func advice(for value: Value) -> String {
    switch value {
    case .string: ": give the class a function parse, which makes values of texts"
    case .list, .map: ": give the class a function from_tree, which makes values of lists and maps"
    default: ""
    }
  }
}
