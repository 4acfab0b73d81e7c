#if canImport(CryptoKit)
  import CryptoKit
#else
  import MoonbaseCNettle
#endif

/// The SHA-2 digests, from the system's library: CryptoKit on Apple's systems, libnettle elsewhere.
package enum SHA2 {
  #if canImport(CryptoKit)
    /// The SHA-256 digest.
    package static func sha256(_ data: Data) -> Data { Data(SHA256.hash(data: data)) }

    /// The SHA-512 digest.
    package static func sha512(_ data: Data) -> Data { Data(SHA512.hash(data: data)) }
  #else
    /// The SHA-256 digest.
    package static func sha256(_ data: Data) -> Data {
      var context = sha256_ctx()
      nettle_sha256_init(&context)
      data.withUnsafeBytes { nettle_sha256_update(&context, $0.count, $0.bindMemory(to: UInt8.self).baseAddress) }
      return digest(of: Int(SHA256_DIGEST_SIZE)) { moonbase_sha256_digest(&context, $0) }
    }

    /// The SHA-512 digest.
    package static func sha512(_ data: Data) -> Data {
      var context = sha512_ctx()
      nettle_sha512_init(&context)
      data.withUnsafeBytes { nettle_sha512_update(&context, $0.count, $0.bindMemory(to: UInt8.self).baseAddress) }
      return digest(of: Int(SHA512_DIGEST_SIZE)) { moonbase_sha512_digest(&context, $0) }
    }

    private static func digest(of size: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Void) -> Data {
      Data(
        [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
          guard let bytes = buffer.baseAddress else { return }
          write(bytes)
          count = size
        })
    }
  #endif
}

extension SHA2 {
  /// The first eight bytes of the SHA-256 digest, in hexadecimal.
  package static func shortText(_ data: Data) -> String {
    sha256(data).prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
