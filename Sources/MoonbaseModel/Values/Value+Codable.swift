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
  ///
  /// A map becomes an object with text keys, a list an array.
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
  ///
  /// Numbers that fit in 64 bits become integers.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? container.decode(Int64.self) {
      self = .int(number)
    } else if let number = try? container.decode(Double.self) {
      self = Self.number(number, exact: try? container.decode(Decimal.self))
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let list = try? container.decode([Value].self) {
      self = .list(list)
    } else {
      self = .map(try container.decode([String: Value].self))
    }
  }
}

extension Value {
  /// A double, or the decimal number if a double cannot represent its digits.
  private static func number(_ number: Double, exact: Decimal?) -> Value {
    guard let exact, !exact.isNaN, number.isFinite, Decimal(string: "\(number)") != exact else {
      return .double(number)
    }
    return .decimal(exact)
  }
}

/// A value in the form of Codable types: decimal numbers as numbers; dates, bytes, UUIDs and URIs as Foundation's
/// types.
///
/// `CodedValue` decodes types with it, which expect Foundation's types and not the texts of
/// `Value`.
struct CodableForm: Encodable {
  /// The value.
  let value: Value

  /// Encodes the value, with lists and maps recursively.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .decimal(let number): try container.encode(number)
    case .date(let date): try container.encode(date)
    case .data(let bytes): try container.encode(bytes)
    case .uuid(let id): try container.encode(id)
    case .list(let list): try container.encode(list.map { CodableForm(value: $0) })
    case .map(let map): try container.encode(map.mapValues { CodableForm(value: $0) })
    default: try container.encode(value)
    }
  }
}

// `"F\(number)"` is a value wherever `"F1"` is one.
extension Value: ExpressibleByStringInterpolation {}
