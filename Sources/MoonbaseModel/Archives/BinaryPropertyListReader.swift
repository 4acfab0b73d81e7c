import MoonbasePlatform

/// Reads Apple's binary property list form, version 00, from bytes that may be hostile.
struct BinaryPropertyListReader: ~Copyable {
  private static let greatestDepth = 128
  /// The most values that a file may hold. A value that is referred to several times is counted each time.
  private static let greatestCount = 1_000_000
  /// The memory charged for a value in addition to its bytes.
  private static let valueWeight = 64

  /// The last 32 bytes of the file, which locate the offset table and the root.
  private struct Trailer {
    let offsetSize: Int
    let referenceSize: Int
    let objectCount: Int
    let root: Int
    let offsetTable: Int

    init(_ bytes: [UInt8]) throws(ModelError) {
      guard bytes.count >= 40, bytes.starts(with: "bplist00".utf8) else {
        throw malformed("it does not begin as a binary property list does, or is cut off")
      }
      let trailer = bytes.count - 32
      offsetSize = Int(bytes[trailer + 6])
      referenceSize = Int(bytes[trailer + 7])
      guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
        let objectCount = unsigned(bytes, at: trailer + 8, size: 8),
        let root = unsigned(bytes, at: trailer + 16, size: 8),
        let table = unsigned(bytes, at: trailer + 24, size: 8),
        root < objectCount, table >= 8, table <= trailer, objectCount <= (trailer - table) / offsetSize
      else { throw malformed("its trailer is damaged") }
      self.objectCount = objectCount
      self.root = root
      offsetTable = table
    }
  }

  private let bytes: [UInt8]
  private let trailer: Trailer
  private var count = 0
  private var memory = HostMemory()

  private init(_ bytes: [UInt8], _ trailer: Trailer) {
    self.bytes = bytes
    self.trailer = trailer
  }

  static func read(_ bytes: [UInt8]) throws(ModelError) -> PropertyList {
    let trailer = try Trailer(bytes)
    var reader = BinaryPropertyListReader(bytes, trailer)
    return try reader.object(trailer.root, depth: 0)
  }

  private var offsetSize: Int { trailer.offsetSize }
  private var referenceSize: Int { trailer.referenceSize }
  private var objectCount: Int { trailer.objectCount }
  private var offsetTable: Int { trailer.offsetTable }

  private mutating func object(_ reference: Int, depth: Int) throws(ModelError) -> PropertyList {
    count += 1
    guard count <= Self.greatestCount else { throw Self.malformed("it has more than \(Self.greatestCount) values") }
    try ModelError.charge()
    try memory.holdForModel(Self.valueWeight)
    guard depth < Self.greatestDepth else { throw Self.malformed("it is nested too deeply, or contains itself") }
    guard reference < objectCount,
      let offset = Self.unsigned(bytes, at: offsetTable + reference * offsetSize, size: offsetSize),
      offset >= 8, offset < offsetTable
    else { throw Self.malformed("a reference points outside of it") }
    return try value(at: offset, depth: depth)
  }

  private mutating func value(at offset: Int, depth: Int) throws(ModelError) -> PropertyList {
    let marker = bytes[offset]
    let low = Int(marker & 0x0f)
    switch marker >> 4 {
    case 0x0: return try simple(marker)
    case 0x1: return .integer(try integer(at: offset + 1, size: 1 << low))
    case 0x2: return .real(try real(at: offset + 1, size: 1 << low))
    case 0x3: return .date(Date(timeIntervalSinceReferenceDate: try real(at: offset + 1, size: 8)))
    case 0x4: return .data(Data(try run(at: offset, low: low, width: 1)))
    case 0x5: return .string(String(decoding: try run(at: offset, low: low, width: 1), as: UTF8.self))
    case 0x6: return .string(wide(try run(at: offset, low: low, width: 2)))
    case 0x8: return .uid(try uid(at: offset + 1, size: low + 1))
    case 0xa, 0xc: return .array(try elements(at: offset, low: low, depth: depth))
    case 0xd: return .dictionary(try dictionary(at: offset, low: low, depth: depth))
    default: throw Self.malformed("it holds a value of unknown kind \(marker)")
    }
  }

  // MARK: Scalars

  private func simple(_ marker: UInt8) throws(ModelError) -> PropertyList {
    switch marker {
    case 0x08: return .bool(false)
    case 0x09: return .bool(true)
    default: throw Self.malformed("it holds a value of unknown kind \(marker)")
    }
  }

  /// Integers of one, two and four bytes are unsigned and those of eight bytes signed. Sixteen bytes hold an unsigned
  /// 64-bit number.
  private func integer(at offset: Int, size: Int) throws(ModelError) -> Int64 {
    guard size <= 16, offset + size <= offsetTable else { throw Self.malformed("an integer is cut off") }
    let low = bytes[offset..<offset + size].suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let number = Int64(bitPattern: low)
    if size == 16 {
      let high = bytes[offset..<offset + 8]
      let sign: UInt8 = number < 0 ? 0xff : 0
      guard high.allSatisfy({ $0 == sign }) else { throw Self.malformed("an integer has more than 64 bits") }
    }
    return number
  }

  private func real(at offset: Int, size: Int) throws(ModelError) -> Double {
    guard size == 4 || size == 8, offset + size <= offsetTable else { throw Self.malformed("a real is cut off") }
    let bits = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return size == 4 ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits)
  }

  private func uid(at offset: Int, size: Int) throws(ModelError) -> UInt32 {
    guard size <= 4, offset + size <= offsetTable else { throw Self.malformed("a UID is out of range") }
    return bytes[offset..<offset + size].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
  }

  private func wide(_ run: ArraySlice<UInt8>) -> String {
    let start = run.startIndex
    let units = (0..<run.count / 2).map { UInt16(run[start + 2 * $0]) << 8 | UInt16(run[start + 2 * $0 + 1]) }
    return String(decoding: units, as: UTF16.self)
  }

  // MARK: Counted runs

  /// The number of elements after a marker, and the offset of the first.
  private func length(at offset: Int, low: Int) throws(ModelError) -> (count: Int, start: Int) {
    guard low == 0x0f else { return (low, offset + 1) }
    guard offset + 1 < offsetTable, bytes[offset + 1] >> 4 == 1 else { throw Self.malformed("a count is damaged") }
    let size = 1 << Int(bytes[offset + 1] & 0x0f)
    let count = try integer(at: offset + 2, size: size)
    guard count >= 0, count <= Int64(bytes.count) else { throw Self.malformed("a count is out of range") }
    return (Int(count), offset + 2 + size)
  }

  private mutating func run(at offset: Int, low: Int, width: Int) throws(ModelError) -> ArraySlice<UInt8> {
    let (count, start) = try length(at: offset, low: low)
    guard count * width <= offsetTable - start else { throw Self.malformed("a string or data is cut off") }
    try memory.holdForModel(count * width)
    return bytes[start..<start + count * width]
  }

  /// Throws unless `count` references fit behind `start`. References are then read singly: collections of a hostile
  /// file may overlap, so lists of them could take many times the size of the file.
  private func checkReferences(from start: Int, count: Int) throws(ModelError) {
    guard start <= offsetTable, count <= (offsetTable - start) / referenceSize else {
      throw Self.malformed("a collection is cut off")
    }
  }

  private func reference(from start: Int, _ index: Int) throws(ModelError) -> Int {
    guard let reference = Self.unsigned(bytes, at: start + index * referenceSize, size: referenceSize) else {
      throw Self.malformed("a reference is out of range")
    }
    return reference
  }

  private mutating func elements(at offset: Int, low: Int, depth: Int) throws(ModelError) -> [PropertyList] {
    let (count, start) = try length(at: offset, low: low)
    try checkReferences(from: start, count: count)
    var result: [PropertyList] = []
    for index in 0..<count { result.append(try object(reference(from: start, index), depth: depth + 1)) }
    return result
  }

  private mutating func dictionary(at offset: Int, low: Int, depth: Int) throws(ModelError) -> [String: PropertyList] {
    let (count, start) = try length(at: offset, low: low)
    try checkReferences(from: start, count: 2 * count)
    var result: [String: PropertyList] = [:]
    for index in 0..<count {
      guard case .string(let name) = try object(reference(from: start, index), depth: depth + 1) else {
        throw Self.malformed("a dictionary has a key that is no string")
      }
      if let mistake = TextLimits.mistake(ofName: name) { throw Self.malformed("a dictionary's key has \(mistake)") }
      result[name] = try object(reference(from: start, count + index), depth: depth + 1)
    }
    return result
  }

  // MARK: Helpers

  /// A big-endian number, or nil where it does not fit in an Int or the bytes end before.
  private static func unsigned(_ bytes: [UInt8], at offset: Int, size: Int) -> Int? {
    guard offset >= 0, offset + size <= bytes.count else { return nil }
    let number = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(exactly: number)
  }

  private static func malformed(_ reason: String) -> ModelError {
    ModelError(.malformedFile, message: "the binary property list is damaged: \(reason)")
  }
}
