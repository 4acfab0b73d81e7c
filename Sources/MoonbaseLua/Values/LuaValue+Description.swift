extension LuaValue: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value as `print` shows it: `nil`, `42`, `Scarlet`, `table (3 keys)`.
  public var description: String {
    switch self {
    case .nil: "nil"
    case .null: "null"
    case .boolean(let value): String(value)
    case .integer(let value): String(value)
    case .number(let value): String(value)
    case .string(let value): value.description
    case .table(let value): value.description
    case .function(let value): value.description
    case .object(let value): value.type.name
    case .userdata: "userdata"
    case .thread(let value): value.description
    }
  }

  /// The description, with strings in quotes, as values within a collection are shown.
  public var debugDescription: String {
    if case .string(let value) = self { value.description.debugDescription } else { description }
  }
}

extension LuaTable: CustomStringConvertible {
  /// `table (3 keys)`.
  public var description: String {
    guard let size = try? size else { return "table (its state is closed)" }
    return size == 1 ? "table (1 key)" : "table (\(size) keys)"
  }
}

extension LuaFunction: CustomStringConvertible {
  /// `function colors.lua:12`.
  public var description: String { place.map { "function \($0)" } ?? "function of the host" }
}

extension LuaThread: CustomStringConvertible {
  /// `coroutine (suspended)`.
  public var description: String { "coroutine (\((try? status).map { "\($0)" } ?? "its state is closed"))" }
}
