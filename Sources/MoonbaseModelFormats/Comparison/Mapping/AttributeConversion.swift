public import MoonbaseModel
import MoonbasePlatform

/// The conversion of values between types, without loss of meaning.
///
/// ```swift
/// let conversion = AttributeConversion(from: .string, to: .integer16)
/// conversion?.convert("12")      // 12
/// conversion?.convert("a lot")   // nil: the type cannot keep it
/// ```
public struct AttributeConversion: Sendable, Hashable {
  /// The type of the existing values.
  public let source: AttributeType
  /// The type to convert to.
  public let destination: AttributeType

  /// Returns nil if no value of the source type has a counterpart.
  public init?(from source: AttributeType, to destination: AttributeType) {
    guard source == destination || Self.sources[destination]?.contains(source) == true else { return nil }
    (self.source, self.destination) = (source, destination)
  }

  /// The types of numbers.
  private static let numbers: Set<AttributeType> = [.integer16, .integer32, .integer64, .decimal, .double, .float]

  /// The source types with values that can be converted, by destination type.
  private static let sources: [AttributeType: Set<AttributeType>] = [
    .integer16: numbers.union([.boolean, .string]), .integer32: numbers.union([.boolean, .string]),
    .integer64: numbers.union([.boolean, .string]), .decimal: numbers.union([.boolean, .string]),
    .double: numbers.union([.boolean, .string]), .float: numbers.union([.boolean, .string]), .boolean: numbers,
    .string: numbers.union([.date, .uuid, .uri]), .date: [.string], .uuid: [.string, .binaryData], .uri: [.string],
    .binaryData: [.uuid, .transformable], .transformable: [.binaryData],
  ]

  /// The converted value; nil for a value that the type cannot hold without loss. Null stays null.
  public func convert(_ value: Value) -> Value? {
    if value.isNull || source == destination { return value }
    switch destination {
    case .integer16: return integer(value).flatMap { Int16(exactly: $0) }.map { .int(Int64($0)) }
    case .integer32: return integer(value).flatMap { Int32(exactly: $0) }.map { .int(Int64($0)) }
    case .integer64: return integer(value).map(Value.int)
    case .boolean: return integer(value).flatMap { $0 == 0 || $0 == 1 ? .bool($0 == 1) : nil }
    case .double: return double(value).map(Value.double)
    case .float: return float(value).map(Value.double)
    case .decimal: return decimal(value).map(Value.decimal)
    case .string: return text(value).map(Value.string)
    case .date: return value.string.flatMap(ISODate.parse).map(Value.date)
    case .uri:
      return value.string.flatMap { text in URL(string: text).flatMap { $0.absoluteString == text ? .uri($0) : nil } }
    case .uuid: return uuid(value).map(Value.uuid)
    case .binaryData, .transformable: return data(value).map(Value.data)
    case .undefined, .objectID, .composite: return nil
    }
  }

  // MARK: Numbers

  /// The integer with exactly this value; nil for fractions and texts of other forms.
  private func integer(_ value: Value) -> Int64? {
    switch value {
    case .int(let number): number
    case .bool(let flag): flag ? 1 : 0
    case .double(let number): Int64(exactly: number)
    default: decimal(value).flatMap { Int64($0.description) }
    }
  }

  /// The double with exactly this value, or whose shortest text is the decimal.
  private func double(_ value: Value) -> Double? {
    switch value {
    case .int(let number): return Double(exactly: number)
    case .bool(let flag): return flag ? 1 : 0
    case .double(let number): return number
    default:
      guard let decimal = decimal(value), let number = Double(decimal.description),
        Decimal(literal: number.description) == decimal
      else { return nil }
      return number
    }
  }

  /// The nearest float of a number written in decimal; nil for a number with more digits than a float holds.
  private func float(_ value: Value) -> Double? {
    if case .decimal = value { return single(value) }
    if case .string = value { return single(value) }
    return double(value).flatMap { Double(Float($0)) == $0 ? $0 : nil }
  }

  /// The float whose shortest text is the decimal.
  private func single(_ value: Value) -> Double? {
    guard let decimal = decimal(value), let number = Float(decimal.description),
      Decimal(literal: number.description) == decimal
    else { return nil }
    return Double(number)
  }

  /// The decimal of a number or its text.
  private func decimal(_ value: Value) -> Decimal? {
    switch value {
    case .decimal(let decimal): decimal
    case .int(let number): Decimal(number)
    case .bool(let flag): flag ? 1 : 0
    case .double(let number): Decimal(literal: number.description)
    case .string(let text): Decimal(literal: text)
    default: nil
    }
  }

  // MARK: Texts and bytes

  /// The text of a value; nil for a date that a text cannot restore.
  private func text(_ value: Value) -> String? {
    switch value {
    case .int(let number): return number.description
    case .double(let number): return source == .float ? Float(number).description : number.description
    case .decimal(let decimal): return decimal.description
    case .uuid(let uuid): return uuid.uuidString
    case .uri(let url): return url.absoluteString
    case .date(let date):
      // A text has milliseconds.
      let text = ISODate.text(date)
      guard let read = ISODate.parse(text), abs(read.timeIntervalSince(date)) < 1e-6 else { return nil }
      return text
    default: return nil
    }
  }

  /// The UUID of a text or of 16 bytes.
  private func uuid(_ value: Value) -> UUID? {
    switch value {
    case .string(let text): UUID(uuidString: text)
    case .data(let data) where data.count == 16:
      UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    default: nil
    }
  }

  /// The bytes of a value: data unchanged, a UUID as 16 bytes.
  private func data(_ value: Value) -> Data? {
    switch value {
    case .data(let data): data
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Data($0) }
    default: nil
    }
  }
}
