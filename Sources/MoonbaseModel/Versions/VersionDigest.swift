import Crypto
package import MoonbasePlatform

/// The one place that knows the hash functions.
package enum VersionDigest {
  package static func sha256(_ data: Data) -> Data { Data(SHA256.hash(data: data)) }
  static func sha512(_ data: Data) -> Data { Data(SHA512.hash(data: data)) }
}
