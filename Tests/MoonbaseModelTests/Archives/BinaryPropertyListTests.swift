import MoonbaseModel
import MoonbasePlatform
import Testing

/// Binary property lists.
@Suite struct BinaryPropertyListTests {
  private static let sample: PropertyList = .dictionary([
    "string": "text", "wide": "Grüße 😀", "empty": "", "long": .string(String(repeating: "x", count: 70_000)),
    "integers": .array(
      [0, 1, 127, 128, 255, 256, 65_535, 65_536, .integer(1 << 40), .integer(-1), .integer(.min), .integer(.max)]),
    "reals": .array([.real(0), .real(-1.5), .real(.pi), .real(.infinity)]),
    "date": .date(Date(timeIntervalSinceReferenceDate: 712_345.25)),
    "data": .data(Data((0..<300).map { UInt8(truncatingIfNeeded: $0) })),
    "bools": .array([true, false]), "uids": .array([.uid(0), .uid(300), .uid(70_000)]),
    "nested": .array([.array([]), .dictionary([:]), .dictionary(["a": .array([1])])]),
  ])

  @Test func everyKindSurvivesWritingAndReading() throws {
    #expect(try PropertyList(binary: Self.sample.binaryData) == Self.sample)
  }

  @Test func equalValuesGiveEqualBytes() {
    // The order of a dictionary's keys depends on its size.
    let keys = (0..<20).map { "key \($0)" }
    var (small, large): ([String: PropertyList], [String: PropertyList]) = ([:], .init(minimumCapacity: 1000))
    for key in keys { small[key] = .string(key) }
    for key in keys.reversed() { large[key] = .string(key) }
    #expect(Array(small.keys) != Array(large.keys))
    #expect(PropertyList.dictionary(small).binaryData == PropertyList.dictionary(large).binaryData)
  }

  @Test func foundationReadsWhatWeWrite() throws {
    let list: PropertyList = ["name": "Grüße", "numbers": [1, -2, .real(2.5)], "flag": true]
    let read = try PropertyListSerialization.propertyList(from: list.binaryData, format: nil)
    let dictionary = try #require(read as? [String: Any])
    #expect(dictionary["name"] as? String == "Grüße")
    #expect(dictionary["numbers"] as? [Double] == [1, -2, 2.5])
    #expect(dictionary["flag"] as? Bool == true)
  }

  @Test func weReadWhatFoundationWrites() throws {
    let source: [String: Any] = ["a": [1, 2, 3], "b": Date(timeIntervalSinceReferenceDate: 5), "c": Data([1, 2])]
    let data = try PropertyListSerialization.data(fromPropertyList: source, format: .binary, options: 0)
    let date = PropertyList.date(Date(timeIntervalSinceReferenceDate: 5))
    #expect(try PropertyList(binary: data) == ["a": [1, 2, 3], "b": date, "c": .data(Data([1, 2]))])
  }

  @Test func everyTruncationIsRefused() {
    let bytes = PropertyList.dictionary(["key": ["value", 1, .uid(3)]]).binaryData
    for length in 0..<bytes.count {
      #expect(throws: ModelError.self) { try PropertyList(binary: bytes.prefix(length)) }
    }
  }

  @Test func damagedBytesNeverTrap() {
    let bytes = PropertyList.dictionary(["key": ["value", 1, .uid(3), .real(1)], "other": .data(Data([1]))]).binaryData
    for index in bytes.indices {
      for change: UInt8 in [0x00, 0x01, 0x0f, 0x4f, 0x5f, 0xaf, 0xdf, 0xff] {
        var damaged = bytes
        damaged[index] = change
        _ = try? PropertyList(binary: damaged)
      }
    }
  }

  @Test func aListThatContainsItselfIsRefused() {
    // An array whose only element is itself.
    var bytes = Data("bplist00".utf8) + Data([0xa1, 0x00, 0x08])
    bytes += Data([0, 0, 0, 0, 0, 0, 1, 1]) + Data(repeating: 0, count: 7) + Data([1])
    bytes += Data(repeating: 0, count: 8) + Data(repeating: 0, count: 7) + Data([10])
    #expect(throws: ModelError.self) { try PropertyList(binary: bytes) }
  }

  @Test func aSmallFileCannotUnfoldIntoAHugeValue() {
    // Thirty arrays, each of which contains the next one three times.
    var bytes = Data("bplist00".utf8)
    for level in 0..<30 { bytes += Data([0xa3] + Array(repeating: UInt8(level + 1), count: 3)) }
    bytes += Data([0x10, 0x01])
    let table = bytes.count
    for level in 0...30 { bytes.append(UInt8(8 + 4 * level)) }
    bytes += Data([0, 0, 0, 0, 0, 0, 1, 1]) + Data(repeating: 0, count: 7) + Data([31])
    bytes += Data(repeating: 0, count: 8) + Data(repeating: 0, count: 7) + Data([UInt8(table)])
    #expect(throws: ModelError.self) { try PropertyList(binary: bytes) }
  }
}
