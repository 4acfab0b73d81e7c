import MoonbaseModel
import MoonbasePlatform

extension KeyedArchiveWriter {
  /// A value as Foundation archives it; nil for what only this process could resolve.
  mutating func value(_ value: Value) -> PropertyList? {
    switch value {
    case .null: return Self.null
    case .bool(let bool): return scalar(.bool(bool))
    case .int(let integer): return scalar(.integer(integer))
    case .double(let double): return scalar(.real(double))
    case .string(let string): return scalar(.string(string))
    case .data(let data): return scalar(.data(data))
    case .date(let date): return object("NSDate", fields: ["NS.time": .real(date.timeIntervalSinceReferenceDate)])
    case .uuid(let uuid):
      let bytes = withUnsafeBytes(of: uuid.uuid) { Data($0) }
      return object("NSUUID", fields: ["NS.uuidbytes": .data(bytes)])
    case .uri(let uri):
      return object("NSURL", fields: ["NS.base": Self.null, "NS.relative": scalar(.string(uri.absoluteString))])
    case .decimal(let decimal): return self.decimal(decimal)
    case .list(let list):
      var references: [PropertyList] = []
      for element in list {
        guard let reference = self.value(element) else { return nil }
        references.append(reference)
      }
      return array(references)
    case .map(let map):
      var pairs: [(key: String, value: PropertyList)] = []
      for (key, value) in map.sorted(by: { $0.key < $1.key }) {
        guard let reference = self.value(value) else { return nil }
        pairs.append((key, reference))
      }
      return dictionary(pairs)
    case .objectID, .object: return nil
    }
  }

  /// A dictionary of user info. Throws for values that only this process could resolve.
  mutating func userInfo(_ values: [String: Value], of owner: String) throws(ModelError) -> PropertyList {
    guard let reference = value(.map(values)) else {
      throw ModelError(.unsupportedForm, message: "\(owner): its user info holds a value that cannot be archived")
    }
    return reference
  }

  private mutating func decimal(_ decimal: Decimal) -> PropertyList {
    var units: [UInt16] = []
    for digit in "\(decimal.significand)".utf8 where (0x30...0x39).contains(digit) {
      var carry = UInt32(digit - 0x30)
      for index in units.indices {
        carry += UInt32(units[index]) * 10
        units[index] = UInt16(truncatingIfNeeded: carry)
        carry >>= 16
      }
      if carry > 0 { units.append(UInt16(carry)) }
    }
    let length = units.count
    units += Array(repeating: 0, count: max(0, 8 - length))
    let mantissa = units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    return object(
      "NSDecimalNumber",
      fields: [
        "NS.exponent": .integer(Int64(decimal.exponent)), "NS.length": .integer(Int64(length)),
        "NS.negative": .bool(decimal.isSignMinus), "NS.compact": true, "NS.mantissa.bo": 1,
        "NS.mantissa": .data(Data(mantissa)),
      ])
  }
}
