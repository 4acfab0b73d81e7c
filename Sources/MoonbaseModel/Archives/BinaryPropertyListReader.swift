import MoonbasePlatform

/// Reads Apple's binary property list form, version 00, from bytes that may be hostile.
///
/// The file has a header, objects with markers, a table of offsets and a trailer. Objects refer to
/// each other by number, so a file may be cyclic or unfold without bound; depth and count limit
/// both. Errors are `.malformedFile`.
struct BinaryPropertyListReader: ~Copyable {
  /// The most levels of collections.
  private static let greatestDepth = 128
  /// The most values that a file may hold. A value that is referred to several times is counted each time.
  private static let greatestCount = 1_000_000
  /// The memory charged for a value in addition to its bytes.
  private static let valueWeight = 64

  /// The last 32 bytes of the file, which locate the offset table and the root.
  private struct Trailer {
    /// The size of an offset in the table, from 1 to 8 bytes.
    let offsetSize: Int
    /// The size of a reference in a collection, from 1 to 8 bytes.
    let referenceSize: Int
    /// The number of objects.
    let objectCount: Int
    /// The number of the root object.
    let root: Int
    /// The position of the offset table.
    let offsetTable: Int

    /// Reads and checks the trailer.
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

  /// The whole file.
  private let bytes: [UInt8]
  /// The positions of the table and the root.
  private let trailer: Trailer
  /// The number of values read so far.
  private var count = 0
  /// The memory charged for the values.
  private var memory = HostMemory()

  /// A reader of a file with a checked trailer.
  private init(_ bytes: [UInt8], _ trailer: Trailer) {
    self.bytes = bytes
    self.trailer = trailer
  }

  /// Reads a file from its root.
  static func read(_ bytes: [UInt8]) throws(ModelError) -> PropertyList {
    let trailer = try Trailer(bytes)
    var reader = BinaryPropertyListReader(bytes, trailer)
    return try reader.object(trailer.root, depth: 0)
  }

  /// The size of an offset.
  private var offsetSize: Int { trailer.offsetSize }
  /// The size of a reference.
  private var referenceSize: Int { trailer.referenceSize }
  /// The number of objects.
  private var objectCount: Int { trailer.objectCount }
  /// The position of the offset table.
  private var offsetTable: Int { trailer.offsetTable }

  /// The object with a number. Its offset comes from the table.
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

  /// The value at a position, whose marker has the kind in the upper and a length in the lower four
  /// bits.
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

  /// A boolean by its marker.
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

  /// A floating-point number of four or eight bytes.
  private func real(at offset: Int, size: Int) throws(ModelError) -> Double {
    guard size == 4 || size == 8, offset + size <= offsetTable else { throw Self.malformed("a real is cut off") }
    let bits = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return size == 4 ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits)
  }

  /// A UID of at most four bytes.
  private func uid(at offset: Int, size: Int) throws(ModelError) -> UInt32 {
    guard size <= 4, offset + size <= offsetTable else { throw Self.malformed("a UID is out of range") }
    return bytes[offset..<offset + size].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
  }

  /// The text of big-endian UTF-16 units.
  private func wide(_ run: ArraySlice<UInt8>) -> String {
    let start = run.startIndex
    let units = (0..<run.count / 2).map { UInt16(run[start + 2 * $0]) << 8 | UInt16(run[start + 2 * $0 + 1]) }
    return String(decoding: units, as: UTF16.self)
  }

  // MARK: Counted runs

  /// The number of elements after a marker, and the offset of the first.
  ///
  /// A length of 15 or more is stored as an integer behind the marker.
  private func length(at offset: Int, low: Int) throws(ModelError) -> (count: Int, start: Int) {
    guard low == 0x0f else { return (low, offset + 1) }
    guard offset + 1 < offsetTable, bytes[offset + 1] >> 4 == 1 else { throw Self.malformed("a count is damaged") }
    let size = 1 << Int(bytes[offset + 1] & 0x0f)
    let count = try integer(at: offset + 2, size: size)
    guard count >= 0, count <= Int64(bytes.count) else { throw Self.malformed("a count is out of range") }
    return (Int(count), offset + 2 + size)
  }

  /// The bytes of a string or of data, which must lie before the table.
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

  /// The number of an element of a collection.
  private func reference(from start: Int, _ index: Int) throws(ModelError) -> Int {
    guard let reference = Self.unsigned(bytes, at: start + index * referenceSize, size: referenceSize) else {
      throw Self.malformed("a reference is out of range")
    }
    return reference
  }

  /// The elements of an array or a set.
  private mutating func elements(at offset: Int, low: Int, depth: Int) throws(ModelError) -> [PropertyList] {
    let (count, start) = try length(at: offset, low: low)
    try checkReferences(from: start, count: count)
    var result: [PropertyList] = []
    for index in 0..<count { result.append(try object(reference(from: start, index), depth: depth + 1)) }
    return result
  }

  /// The entries of a dictionary: keys first, then values. Throws for a key that is no string.
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

  /// The error about a damaged file.
  private static func malformed(_ reason: String) -> ModelError {
    ModelError(.malformedFile, message: "the binary property list is damaged: \(reason)")
  }
}
