import MoonbasePlatform

/// Values as JSON in the command's form: dates in ISO 8601, bytes in base64; decimals, UUIDs, URIs and IDs as text.
///
/// ```swift
/// let rows = try context.fetchDictionaries(request)
/// let body = try JSONEncoder().encode(rows)
/// ```
///
/// Decoding gives booleans, numbers, texts, lists and maps. An attribute of another type parses the text on assignment.
extension Value: Codable {
  /// Throws `EncodingError` for a value of an extension's class, and the encoder's error for numbers that are not
  /// finite.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let flag): try container.encode(flag)
    case .int(let number): try container.encode(number)
    case .double(let number): try container.encode(number)
    case .list(let list): try container.encode(list)
    case .map(let map): try container.encode(map)
    case .object(let object):
      throw EncodingError.invalidValue(
        self,
        .init(
          codingPath: encoder.codingPath,
          debugDescription: "a value of class \(object.className) has no form outside its script"))
    case .decimal, .string, .date, .data, .uuid, .uri, .objectID: try container.encode(description)
    }
  }

  /// Reads null, a truth value, a number, a text, a list or a map.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? container.decode(Int64.self) {
      self = .int(number)
    } else if let number = try? container.decode(Double.self) {
      self = .double(number)
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let list = try? container.decode([Value].self) {
      self = .list(list)
    } else {
      self = .map(try container.decode([String: Value].self))
    }
  }
}

// Makes `"F\(number)"` a literal value, as `"F1"` is.
extension Value: ExpressibleByStringInterpolation {}
