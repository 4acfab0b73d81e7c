import MoonbasePlatform

extension Value {
  /// The plain text of a scalar value, for CAST, messages and text output; nil for null, lists, maps and objects.
  package var text: String? {
    switch self {
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .double(let value): value.description
    case .decimal(let value): value.description
    case .string(let value): value
    case .date(let value): ISODate.text(value)
    case .data(let value): value.base64EncodedString()
    case .uuid(let value): value.uuidString
    case .uri(let value): value.absoluteString
    case .objectID(let value): value.uriRepresentation
    case .null, .list, .map, .object: nil
    }
  }

  /// The first characters of `text`, for messages.
  package var beginning: String? {
    switch self {
    case .string(let text): TextLimits.beginning(of: text)
    case .data(let bytes): TextLimits.beginning(of: bytes.prefix(60).base64EncodedString())
    default: text.map { TextLimits.beginning(of: $0) }
    }
  }

  /// The first characters of the value in parentheses, with a space before, for messages; empty for values without a
  /// short text.
  package var inParentheses: String {
    switch self {
    case .list(let list) where list.count <= 20: " (\(TextLimits.beginning(of: description)))"
    case .map(let map) where map.count <= 20: " (\(TextLimits.beginning(of: description)))"
    default: beginning.map { " (\($0))" } ?? ""
    }
  }
}

extension Value: CustomStringConvertible {
  /// The value in readable form: a string without quotes, dates as ISO 8601, bytes as base64, `nil` for null.
  ///
  /// Lists and maps beyond the depth limit are shown as `…`.
  public var description: String { description(levels: TreeLimits.greatestDepth) }

  /// The description with at most `levels` levels of lists and maps.
  private func description(levels: Int) -> String {
    switch self {
    case .null: "nil"
    case .list where levels == 0, .map where levels == 0: "…"
    case .list(let list): "[\(list.map { $0.description(levels: levels - 1) }.joined(separator: ", "))]"
    case .map(let map):
      "{"
        + map.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.description(levels: levels - 1))" }
        .joined(separator: ", ") + "}"
    case .object(let object): "object of class \(object.className)"
    default: text ?? typeDescription
    }
  }
}
