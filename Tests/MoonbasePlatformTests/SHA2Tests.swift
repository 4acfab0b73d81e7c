import MoonbasePlatform
import Testing

/// The examples of FIPS 180-4.
@Suite struct SHA2Tests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func theDigestIsThatOfTheExamplesOfSHA256(text: String, digest: String) {
    #expect(hex(SHA2.sha256(Data(text.utf8))) == digest)
  }

  @Test func theDigestIsThatOfTheExampleOfSHA512() {
    #expect(
      hex(SHA2.sha512(Data("abc".utf8)))
        == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    )
  }

  private func hex(_ data: Data) -> String { data.map { String(format: "%02x", $0) }.joined() }
}
