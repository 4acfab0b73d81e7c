import MoonbasePlatform

/// Writes Apple's binary property list form, version 00. Equal scalars share one entry; collections do not.
///
/// The writer numbers all values first, because references have as many bytes as the number of
/// values needs. Then it writes the objects, the table of offsets and the trailer. Equal values
/// give equal bytes.
struct BinaryPropertyListWriter {
  /// A numbered value, whose elements are numbers.
  private enum Item {
    /// A value without elements.
    case scalar(PropertyList)
    /// The numbers of the elements.
    case array([Int])
    /// The numbers of the keys and of the values, in the same order.
    case dictionary(keys: [Int], values: [Int])
  }

  /// The numbered values.
  private var items: [Item] = []
  /// The numbers of scalars other than texts.
  private var known: [PropertyList: Int] = [:]
  /// The entries of texts, compared by code points. Swift's string equality treats canonically equivalent texts as
  /// equal and may be slow.
  private var knownTexts: [ExactText: Int] = [:]
  /// The file so far, beginning with the signature.
  private var bytes = [UInt8]("bplist00".utf8)

  /// Writes a property list. The writer is used once.
  mutating func write(_ root: PropertyList) -> Data {
    _ = add(root)
    let referenceSize = Self.width(of: items.count)
    var offsets: [Int] = []
    for item in items {
      offsets.append(bytes.count)
      append(item, referenceSize: referenceSize)
    }
    let table = bytes.count
    let offsetSize = Self.width(of: table)
    for offset in offsets { append(offset, size: offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    append(items.count, size: 8)
    append(0, size: 8)
    append(table, size: 8)
    return Data(bytes)
  }

  // MARK: Numbering

  /// Adds a value and returns its number. The root has number 0, and a collection precedes its elements.
  private mutating func add(_ value: PropertyList) -> Int {
    switch value {
    case .array(let elements):
      let number = reserve()
      let references = elements.map { add($0) }
      items[number] = .array(references)
      return number
    case .dictionary(let dictionary):
      let number = reserve()
      let names = dictionary.keys.sorted()
      let keys = names.map { add(.string($0)) }
      let values = names.map { add(dictionary[$0] ?? .bool(false)) }
      items[number] = .dictionary(keys: keys, values: values)
      return number
    case .string(let text):
      let key = ExactText(text)
      if let number = knownTexts[key] { return number }
      knownTexts[key] = items.count
      items.append(.scalar(value))
      return items.count - 1
    case .real(0):
      // 0.0 and -0.0 are equal but differ in their bits, so numbers equal to zero are not shared.
      items.append(.scalar(value))
      return items.count - 1
    default:
      if let number = known[value] { return number }
      known[value] = items.count
      items.append(.scalar(value))
      return items.count - 1
    }
  }

  /// Reserves a number, so that a collection precedes its elements.
  private mutating func reserve() -> Int {
    items.append(.array([]))
    return items.count - 1
  }

  // MARK: Bytes

  /// Writes an object with its marker.
  private mutating func append(_ item: Item, referenceSize: Int) {
    switch item {
    case .scalar(let value): append(scalar: value)
    case .array(let references):
      append(marker: 0xa0, count: references.count)
      for reference in references { append(reference, size: referenceSize) }
    case .dictionary(let keys, let values):
      append(marker: 0xd0, count: keys.count)
      for reference in keys + values { append(reference, size: referenceSize) }
    }
  }

  /// Writes a scalar with its marker.
  private mutating func append(scalar: PropertyList) {
    switch scalar {
    case .string(let string): append(string)
    case .integer(let integer): append(integer)
    case .real(let real): append(0x23, real: real)
    case .date(let date): append(0x33, real: date.timeIntervalSinceReferenceDate)
    case .bool(let bool): bytes.append(bool ? 0x09 : 0x08)
    case .uid(let uid):
      let size = Self.width(of: Int(uid))
      bytes.append(0x80 | UInt8(size - 1))
      append(Int(uid), size: size)
    case .data(let data):
      append(marker: 0x40, count: data.count)
      bytes += data
    case .array, .dictionary: break
    }
  }

  /// Writes a text: ASCII as bytes, other texts as big-endian UTF-16.
  private mutating func append(_ string: String) {
    if string.utf8.allSatisfy({ $0 < 0x80 }) {
      append(marker: 0x50, count: string.utf8.count)
      bytes += string.utf8
    } else {
      append(marker: 0x60, count: string.utf16.count)
      for unit in string.utf16 { append(Int(unit), size: 2) }
    }
  }

  /// Writes an integer in the fewest bytes; negative integers take eight.
  private mutating func append(_ integer: Int64) {
    let size = integer < 0 ? 8 : Self.width(of: Int(integer))
    bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
    for shift in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: integer >> (8 * shift))) }
  }

  /// Writes a double with its marker.
  private mutating func append(_ marker: UInt8, real: Double) {
    bytes.append(marker)
    withUnsafeBytes(of: real.bitPattern.bigEndian) { bytes += $0 }
  }

  /// Writes a marker with a count, which follows as an integer from 15 on.
  private mutating func append(marker: UInt8, count: Int) {
    if count < 15 {
      bytes.append(marker | UInt8(count))
    } else {
      bytes.append(marker | 0x0f)
      append(Int64(count))
    }
  }

  /// Writes a number in big-endian order.
  private mutating func append(_ number: Int, size: Int) {
    for shift in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
  }

  /// The least of the widths 1, 2, 4 and 8 bytes that holds a number.
  private static func width(of number: Int) -> Int {
    number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
  }
}
