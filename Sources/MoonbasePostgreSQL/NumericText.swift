/// A decimal numeral, with conversions to and from the binary form of PostgreSQL's `numeric`: groups of four digits,
/// and the position of the decimal point.
package struct NumericText {
  /// The numeral: digits with at most one decimal point and a minus sign, without an exponent; or `-Infinity`.
  package let text: String

  /// Makes a numeral from its text, which must be valid.
  package init(_ text: String) { self.text = text }

  /// The text of minus infinity, the least `numeric`.
  package static let leastText = "-Infinity"

  private static let negative: UInt16 = 0x4000
  private static let negativeInfinity: UInt16 = 0xF000

  /// The binary form that is sent.
  var wire: ContiguousArray<UInt8> {
    var result = WireBytes()
    if text == Self.leastText {
      for number in [0, 0, Self.negativeInfinity, 0] as [UInt16] { result.append(number) }
      return result.bytes
    }
    let isNegative = text.hasPrefix("-")
    let parts = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
    let (whole, fraction) = (Array(parts[0].utf8), parts.count > 1 ? Array(parts[1].utf8) : [])
    let padded =
      [UInt8](repeating: 0x30, count: (4 - whole.count % 4) % 4) + whole + fraction
      + [UInt8](repeating: 0x30, count: (4 - fraction.count % 4) % 4)
    var groups = stride(from: 0, to: padded.count, by: 4).map { start in
      padded[start..<start + 4].reduce(Int16(0)) { $0 * 10 + Int16($1 - 0x30) }
    }
    var weight = (whole.count + 3) / 4 - 1
    while groups.first == 0 {
      groups.removeFirst()
      weight -= 1
    }
    while groups.last == 0 { groups.removeLast() }
    result.append(Int16(groups.count))
    result.append(Int16(groups.isEmpty ? 0 : weight))
    result.append(isNegative && !groups.isEmpty ? Self.negative : 0)
    result.append(Int16(fraction.count))
    for group in groups { result.append(group) }
    return result.bytes
  }

  /// Reads the binary form. Returns nil for NaN and infinity.
  package init?(wire bytes: UnsafeRawBufferPointer) {
    func word(_ place: Int) -> UInt16 {
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: place * 2, as: UInt16.self))
    }
    guard bytes.count >= 8 else { return nil }
    let (count, weight, sign, scale) = (Int(word(0)), Int(Int16(bitPattern: word(1))), word(2), Int(word(3)))
    if sign == Self.negativeInfinity {
      text = Self.leastText
      return
    }
    guard sign == 0 || sign == Self.negative, bytes.count >= 8 + 2 * count else { return nil }
    func group(_ place: Int) -> String {
      let digits = place >= 0 && place < count ? String(word(4 + place)) : "0"
      return String(repeating: "0", count: 4 - digits.count) + digits
    }
    var result = weight < 0 ? "0" : ""
    if weight >= 0 {
      for place in 0...weight { result += group(place) }
      result = String(result.drop { $0 == "0" })
      if result.isEmpty { result = "0" }
    }
    if scale > 0 {
      var fraction = ""
      var place = weight + 1
      while fraction.utf8.count < scale {
        fraction += group(place)
        place += 1
      }
      result += "." + fraction.prefix(scale)
    }
    text = (sign == Self.negative ? "-" : "") + result
  }
}
