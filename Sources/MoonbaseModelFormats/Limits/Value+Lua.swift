import MoonbaseModel

extension Value {
  /// Whether a Lua literal can represent the value of an attribute.
  var hasLuaLiteral: Bool {
    switch self {
    case .bool, .int, .double, .string, .decimal, .uuid, .uri, .date: true
    default: false
    }
  }

  /// Whether user info can hold the value in a Lua file.
  var isWritableAsUserInfo: Bool {
    switch self {
    case .bool, .int, .double, .string: true
    case .list(let list): list.allSatisfy(\.isWritableAsUserInfo)
    case .map(let map): map.values.allSatisfy(\.isWritableAsUserInfo)
    default: false
    }
  }
}
