import MoonbaseModel

extension Value {
  /// Whether a Lua literal can represent the value of an attribute.
  ///
  /// Dates, decimals, UUIDs and URIs are written as texts, which the attribute's type converts
  /// back.
  var hasLuaLiteral: Bool {
    switch self {
    case .bool, .int, .double, .string, .decimal, .uuid, .uri, .date: true
    default: false
    }
  }

  /// Whether user info can hold the value in a Lua file.
  ///
  /// Lists and maps are checked recursively.
  var isWritableAsUserInfo: Bool {
    switch self {
    case .bool, .int, .double, .string: true
    case .list(let list): list.allSatisfy(\.isWritableAsUserInfo)
    case .map(let map): map.values.allSatisfy(\.isWritableAsUserInfo)
    default: false
    }
  }
}
