import MoonbasePlatform

/// The types that CAST accepts.
///
/// The raw values are Foundation's class names, as `CAST("12", "NSNumber")` has them. A cast makes
/// dates, UUIDs and other values that have no literal.
enum CastType: String, Sendable, CaseIterable {
  /// An integer, or a double for other numbers.
  case number = "NSNumber"
  /// A decimal.
  case decimal = "NSDecimalNumber"
  /// A text.
  case string = "NSString"
  /// A date, from seconds since 2001 or an ISO 8601 text.
  case date = "NSDate"
  /// Bytes, from Base64.
  case data = "NSData"
  /// A UUID.
  case uuid = "NSUUID"
  /// A URI.
  case uri = "NSURL"
  /// An object ID, from its URI.
  case objectID = "NSManagedObjectID"

  /// The type with this name, with or without Foundation's prefix.
  init?(name: String) {
    guard name.utf8.count <= 20 else { return nil }
    switch name {
    case "Date": self = .date
    case "Data": self = .data
    case "UUID": self = .uuid
    case "URL": self = .uri
    case "String": self = .string
    case "Number": self = .number
    case "Decimal": self = .decimal
    default: self.init(rawValue: name)
    }
  }

  /// The value of a cast of a literal, for types without a literal form; nil leaves the cast to evaluation.
  func literal(_ value: Value) -> Value? {
    switch (self, value) {
    case (.string, _), (_, .null): return nil
    case (.number, .string(let text)):
      guard text.utf8.count <= 4 else { return nil }
      switch text {
      case "inf": return .double(.infinity)
      case "-inf": return .double(-.infinity)
      case "nan": return .double(.nan)
      default: return nil
      }
    case (.number, _): return nil
    default: return convert(value)
    }
  }

  /// The value converted to this type; nil if it cannot be converted.
  func convert(_ value: Value) -> Value? {
    switch self {
    case .number: number(value)
    case .decimal: decimal(value)
    case .string: value.text.map(Value.string)
    case .date: date(value)
    case .data: data(value)
    case .uuid: uuid(value)
    case .uri: uri(value)
    case .objectID: objectID(value)
    }
  }

  /// The number of a value. Dates are seconds since 2001.
  private func number(_ value: Value) -> Value? {
    switch value {
    case .int, .double, .decimal, .bool: value
    case .date(let date): .double(date.timeIntervalSinceReferenceDate)
    case .string(let text): Int64(text).map(Value.int) ?? Double(text).map(Value.double)
    default: nil
    }
  }

  /// The decimal with the digits of a number's text.
  private func decimal(_ value: Value) -> Value? {
    switch value {
    case .decimal: value
    case .int(let number): .decimal(Decimal(number))
    case .double(let number): Decimal(literal: number.description).map(Value.decimal)
    case .string(let text): Decimal(literal: text).map(Value.decimal)
    default: nil
    }
  }

  /// The date of a value.
  private func date(_ value: Value) -> Value? {
    switch value {
    case .date: value
    case .int(let seconds): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
    case .double(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .string(let text): ISODate.parse(text).map(Value.date)
    default: nil
    }
  }

  /// The bytes of a Base64 text.
  private func data(_ value: Value) -> Value? {
    switch value {
    case .data: value
    case .string(let text): Data(base64Encoded: text).map(Value.data)
    default: nil
    }
  }

  /// The UUID of a text.
  private func uuid(_ value: Value) -> Value? {
    switch value {
    case .uuid: value
    case .string(let text): UUID(literal: text).map(Value.uuid)
    default: nil
    }
  }

  /// The URI of a text.
  private func uri(_ value: Value) -> Value? {
    switch value {
    case .uri: value
    case .string(let text): URL(string: text).map(Value.uri)
    default: nil
    }
  }

  /// The object ID of a URI.
  private func objectID(_ value: Value) -> Value? {
    switch value {
    case .objectID: value
    case .string(let text): ManagedObjectID(uriRepresentation: text).map(Value.objectID)
    case .uri(let url): ManagedObjectID(uriRepresentation: url.absoluteString).map(Value.objectID)
    default: nil
    }
  }
}
