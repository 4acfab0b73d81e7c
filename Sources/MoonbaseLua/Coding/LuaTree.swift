/// A Lua value as plain data: no functions, no handles, no cycles. It may leave its state, and its thread.
public enum LuaTree: Sendable, Hashable {
  /// No value: `moonbase.null` inside lists and maps.
  case null
  /// True or false.
  case boolean(Bool)
  /// A 64-bit integer, exact.
  case integer(Int64)
  /// A floating-point number.
  case number(Double)
  /// Bytes, mostly text.
  case string(LuaString)
  /// A list: keys 1 to n, or marked as one.
  case list([LuaTree])
  /// A map; integer keys are in their decimal form.
  case map([LuaString: LuaTree])
}

extension LuaTree {
  /// A text.
  public static func text(_ text: String) -> LuaTree { .string(LuaString(text)) }

  /// The value for a key of a map.
  public subscript(_ key: String) -> LuaTree? { if case .map(let map) = self { map[LuaString(key)] } else { nil } }

  /// The element of a list, from 0.
  public subscript(_ index: Int) -> LuaTree? {
    if case .list(let list) = self, list.indices.contains(index) { list[index] } else { nil }
  }
}
