/// A Lua value as plain data: no functions, no handles, no cycles. It may leave its state, and its thread.
///
/// ```swift
/// let tree = try state.tree(of: state.load("return { name = 'x', sizes = { 1, 2 } }", name: "t.lua").first())
/// tree["sizes"]?[0]          // .integer(1)
/// ```
public enum LuaTree: Sendable, Hashable {
  /// No value, which is `moonbase.null` inside of lists and maps.
  case null
  /// True or false.
  case boolean(Bool)
  /// A 64-bit integer, exact.
  case integer(Int64)
  /// A floating-point number.
  case number(Double)
  /// Bytes, mostly text.
  case string(LuaString)
  /// A list: a table with the keys 1 to n, or one that is marked as a list.
  case list([LuaTree])
  /// A map. Integer keys are texts in decimal form here.
  case map([LuaString: LuaTree])
}

extension LuaTree {
  /// Creates a string of a text.
  public static func text(_ text: String) -> LuaTree { .string(LuaString(text)) }

  /// The value for a key of a map.
  public subscript(_ key: String) -> LuaTree? { if case .map(let map) = self { map[LuaString(key)] } else { nil } }

  /// The element of a list, from 0.
  public subscript(_ index: Int) -> LuaTree? {
    if case .list(let list) = self, list.indices.contains(index) { list[index] } else { nil }
  }
}
