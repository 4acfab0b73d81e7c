import MoonbasePlatform

extension Value {
  /// The value of an archived object of a Foundation class without references to other objects; nil for any other
  /// class, and for fields that do not fit the class.
  ///
  /// The function is shared by the readers of transformable values and of compiled models.
  package init?(archivedAs className: String, _ fields: [String: PropertyList]) {
    let value: Value? =
      switch className {
      case "NSNull": .null
      case "NSDate": fields["NS.time"]?.real.flatMap(Self.date)
      case "NSString", "NSMutableString": fields["NS.string"]?.string.map(Value.string)
      case "NSData", "NSMutableData": (fields["NS.data"] ?? fields["NS.bytes"])?.data.map(Value.data)
      case "NSUUID": fields["NS.uuidbytes"]?.data.flatMap(Self.uuid)
      case "NSDecimalNumber": Self.decimal(fields)
      default: nil
      }
    guard let value else { return nil }
    self = value
  }

  /// A date; nil for a time that is not finite.
  private static func date(_ time: Double) -> Value? {
    time.isFinite ? .date(Date(timeIntervalSinceReferenceDate: time)) : nil
  }

  /// A UUID of 16 bytes.
  private static func uuid(_ bytes: Data) -> Value? {
    guard bytes.count == 16 else { return nil }
    return .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
  }

  /// A decimal number: a little-endian mantissa of 16-bit units, a power of ten and a sign.
  ///
  /// Returns nil for a mantissa of more than 128 bits, and for an exponent outside of 8 bits.
  private static func decimal(_ fields: [String: PropertyList]) -> Value? {
    guard let mantissa = fields["NS.mantissa"]?.data, mantissa.count <= 16,
      let exponent = fields["NS.exponent"]?.integer, (-128...127).contains(exponent)
    else { return nil }
    let littleEndian = (fields["NS.mantissa.bo"]?.integer ?? 1) == 1
    let bytes = [UInt8](mantissa)
    let units = stride(from: 0, to: bytes.count - 1, by: 2).map { offset -> UInt16 in
      let (first, second) = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
      return littleEndian ? second << 8 | first : first << 8 | second
    }
    let stated = fields["NS.length"]?.integer.flatMap { Int(exactly: $0) } ?? units.count
    let length = Swift.min(Swift.max(0, stated), units.count)
    let magnitude = units[..<length].reversed().reduce(Decimal(0)) { $0 * 65_536 + Decimal(Int($1)) }
    let sign: FloatingPointSign = fields["NS.negative"]?.bool == true ? .minus : .plus
    // Foundation archives NaN as a negative number without digits.
    if length == 0, sign == .minus { return .decimal(.nan) }
    return .decimal(Decimal(sign: sign, exponent: Int(exponent), significand: magnitude))
  }
}
