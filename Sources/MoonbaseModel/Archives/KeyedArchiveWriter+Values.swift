import MoonbasePlatform

extension KeyedArchiveWriter {
  /// A value as Foundation archives it, with lists as arrays; nil for a value that only this process can resolve.
  ///
  /// The result is a reference for use in other objects. Decimals become `NSDecimalNumber`, dates
  /// `NSDate`.
  package mutating func value(_ value: Value) -> PropertyList? {
    switch value {
    case .null: return Self.null
    case .bool(let bool): return scalar(.bool(bool))
    case .int(let integer): return scalar(.integer(integer))
    case .double(let double): return scalar(.real(double))
    case .string(let string): return self.string(string)
    case .data(let data): return scalar(.data(data))
    case .date(let date): return object("NSDate", fields: ["NS.time": .real(date.timeIntervalSinceReferenceDate)])
    case .uuid(let uuid):
      let bytes = withUnsafeBytes(of: uuid.uuid) { Data($0) }
      return object("NSUUID", fields: ["NS.uuidbytes": .data(bytes)])
    case .uri(let uri):
      return object("NSURL", fields: ["NS.base": Self.null, "NS.relative": string(uri.absoluteString)])
    case .decimal(let decimal): return self.decimal(decimal)
    case .list(let list): return self.list(list, className: "NSArray")
    case .map(let map): return self.map(map)
    case .objectID, .object: return nil
    }
  }

  /// A collection of values as an array or a set; nil if an element is a value that only this process can resolve.
  package mutating func list(_ list: [Value], className: String) -> PropertyList? {
    let reference = reserve()
    var references: [PropertyList] = []
    references.reserveCapacity(list.count)
    for element in list {
      guard let element = self.element(element) else { return nil }
      references.append(element)
    }
    fill(reference, className: className, fields: ["NS.objects": .array(references)])
    return reference
  }

  /// A map as an `NSDictionary` with sorted keys; nil if a value cannot be archived.
  private mutating func map(_ map: [String: Value]) -> PropertyList? {
    let reference = reserve()
    var (keys, values): ([PropertyList], [PropertyList]) = ([], [])
    for (key, value) in map.sorted(by: { $0.key < $1.key }) {
      guard let value = element(value) else { return nil }
      keys.append(string(key))
      values.append(value)
    }
    fill(reference, className: "NSDictionary", fields: ["NS.keys": .array(keys), "NS.objects": .array(values)])
    return reference
  }

  /// An element of a collection. Null becomes an `NSNull` object, because Foundation's collections cannot hold nil.
  private mutating func element(_ value: Value) -> PropertyList? {
    value.isNull ? nullObject() : self.value(value)
  }

  /// A decimal as an `NSDecimalNumber`: the mantissa in eight 16-bit units, an exponent and a sign.
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
        "NS.negative": .bool(decimal.isSignMinus || decimal.isNaN), "NS.compact": true, "NS.mantissa.bo": 1,
        "NS.mantissa": .data(Data(mantissa)),
      ])
  }
}
