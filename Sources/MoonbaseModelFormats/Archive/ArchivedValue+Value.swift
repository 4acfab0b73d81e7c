import MoonbaseModel
import MoonbasePlatform

extension ArchivedValue {
  /// The value of an attribute or of user info; nil for objects of classes that have no meaning here.
  var modelValue: Value? { modelValue(depth: 0) }

  private func modelValue(depth: Int) -> Value? {
    guard depth < 32 else { return nil }
    switch self {
    case .scalar(let plist): return Self.value(plist)
    case .object(let object):
      if let string { return .string(string) }
      if let elements = object.elements { return .list(elements.compactMap { $0.modelValue(depth: depth + 1) }) }
      if let pairs = object.pairs {
        let values = pairs.compactMap { key, value in value.modelValue(depth: depth + 1).map { (key, $0) } }
        return .map(Dictionary(values) { first, _ in first })
      }
      return object.foundationValue
    }
  }

  private static func value(_ plist: PropertyList) -> Value? {
    switch plist {
    case .string(let string): .string(string)
    case .integer(let integer): .int(integer)
    case .real(let real): .double(real)
    case .data(let data): .data(data)
    case .date(let date): .date(date)
    case .bool(let bool): .bool(bool)
    case .array, .dictionary, .uid: nil
    }
  }
}

extension ArchivedObject {
  fileprivate var foundationValue: Value? {
    switch className {
    case "NSDate":
      return fields["NS.time"]?.real.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case "NSData", "NSMutableData": return fields["NS.data"]?.data.map(Value.data)
    case "NSURL": return string("NS.relative").flatMap { URL(string: $0) }.map(Value.uri)
    case "NSUUID":
      guard let bytes = fields["NS.uuidbytes"]?.data, bytes.count == 16 else { return nil }
      return .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case "NSDecimalNumber": return decimal.map(Value.decimal)
    default: return nil
    }
  }

  /// A decimal number: a little-endian mantissa of 16-bit units, a power of ten and a sign.
  private var decimal: Decimal? {
    guard let mantissa = fields["NS.mantissa"]?.data, mantissa.count <= 16, let exponent = integer("NS.exponent"),
      (-128...127).contains(exponent)
    else { return nil }
    let littleEndian = (integer("NS.mantissa.bo") ?? 1) == 1
    let bytes = [UInt8](mantissa)
    let units = stride(from: 0, to: bytes.count - 1, by: 2).map { offset -> UInt16 in
      let (first, second) = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
      return littleEndian ? second << 8 | first : first << 8 | second
    }
    let length = min(max(0, integer("NS.length") ?? units.count), units.count)
    let magnitude = units[..<length].reversed().reduce(Decimal(0)) { $0 * 65_536 + Decimal(Int($1)) }
    return Decimal(sign: bool("NS.negative") ? .minus : .plus, exponent: exponent, significand: magnitude)
  }
}
