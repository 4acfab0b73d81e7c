/// A Lua value as plain data, without functions, handles and cycles. It is independent of its state and thread.
///
/// ```swift
/// let tree = try state.tree(of: state.load("return { name = 'x', sizes = { 1, 2 } }", name: "t.lua").first())
/// tree["sizes"]?[0]          // .integer(1)
/// ```
public enum LuaTree: Sendable, Hashable {
  /// No value, which is `moonbase.null` within lists and maps.
  case null
  /// True or false.
  case boolean(Bool)
  /// A 64-bit integer, exact.
  case integer(Int64)
  /// A floating-point number.
  case number(Double)
  /// Bytes, usually text.
  case string(LuaString)
  /// A list: a table with the keys 1 to n, or a table marked as a list.
  case list([LuaTree])
  /// A map. Integer keys become texts in decimal form.
  case map([LuaString: LuaTree])
}

extension LuaTree {
  /// A string with this text.
  public static func text(_ text: String) -> LuaTree { .string(LuaString(text)) }

  /// The value for a key of a map.
  public subscript(_ key: String) -> LuaTree? { if case .map(let map) = self { map[LuaString(key)] } else { nil } }

  /// The element of a list, from 0.
  public subscript(_ index: Int) -> LuaTree? {
    if case .list(let list) = self, list.indices.contains(index) { list[index] } else { nil }
  }
}
