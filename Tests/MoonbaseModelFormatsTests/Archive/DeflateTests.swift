import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

@Suite struct DeflateTests {
  @Test(arguments: [0, 1, 1000, 300_000])
  func bytesSurviveDeflatingAndInflating(count: Int) throws {
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) })
    #expect(try Deflate.inflate(Deflate.deflate(data)) == data)
  }

  @Test func moreThanTheLimitIsRefused() throws {
    let bomb = try Deflate.deflate(Data(repeating: 0, count: 1_000_000))
    #expect(throws: ModelError.self) { try Deflate.inflate(bomb, limit: 999_999) }
    #expect(try Deflate.inflate(bomb, limit: 1_000_000).count == 1_000_000)
  }

  @Test func aStreamThatIsCutOffIsRefused() throws {
    let data = try Deflate.deflate(Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 * 31) }))
    for length in [0, 1, data.count / 2, data.count - 1] {
      #expect(throws: ModelError.self) { try Deflate.inflate(data.prefix(length)) }
    }
  }
}
