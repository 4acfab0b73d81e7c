import MoonbasePlatform
import Testing

@testable import MoonbaseSQLiteStore

/// The bits by which a history names changed properties, when a migration moves the properties.
@Suite struct ChangedColumnsTests {
  @Test func bitsGoWithTheirPropertiesAndThoseOfNoneStayBehindThem() {
    // The second of three properties is removed, and the others swap places; the meaning of the fourth bit is unknown.
    let places = [1, nil, 0]
    #expect(ChangedColumns.moved(Data([0b1000_0000]), to: places, count: 2) == Data([0b0100_0000]))
    #expect(ChangedColumns.moved(Data([0b0110_0000]), to: places, count: 2) == Data([0b1000_0000]))
    #expect(ChangedColumns.moved(Data([0b1011_0000]), to: places, count: 2) == Data([0b1110_0000]))
  }

  @Test func asManyBytesAreMadeAsTheBitsTake() {
    let places: [Int?] = Array(0..<8)
    #expect(ChangedColumns.moved(Data([0x01]), to: places, count: 8) == Data([0x01]))
    #expect(ChangedColumns.moved(Data([0x01, 0x80]), to: places, count: 8) == Data([0x01, 0x80]))
    // A ninth property is inserted before the others.
    #expect(ChangedColumns.moved(Data([0x81]), to: places.map { $0.map { $0 + 1 } }, count: 9) == Data([0x40, 0x80]))
  }
}
