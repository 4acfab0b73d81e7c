public import MoonbasePlatform

/// What identifies a version of a model in a store: a hash for each entity, and two sums over them.
public struct ModelVersion: Sendable, Hashable {
  /// 32 bytes for each entity: `NSStoreModelVersionHashes`.
  public let hashes: [String: Data]
  /// Entities whose hash Apple's framework is known to compute by a rule that nobody has found (derived and composite
  /// attributes), with their subentities. Their hashes here change when they should but differ from Apple's.
  public let unprovenEntities: Set<String>

  package init(hashes: [String: Data], unprovenEntities: Set<String> = []) {
    self.hashes = hashes
    self.unprovenEntities = unprovenEntities
  }

  /// `NSStoreModelVersionHashesDigest`: SHA-512 over names and hashes, in base 64.
  public var digest: String {
    SHA2.sha512(sorted.reduce(into: Data()) { $0 += Data($1.key.utf8) + $1.value }).base64EncodedString()
  }

  /// `NSStoreModelVersionChecksumKey`, also in a compiled model's `VersionInfo.plist`: SHA-256 over the hashes, in base 64.
  public var checksum: String {
    SHA2.sha256(sorted.reduce(into: Data()) { $0 += $1.value }).base64EncodedString()
  }

  private var sorted: [(key: String, value: Data)] { hashes.sorted { $0.key.literallyPrecedes($1.key) } }
}

extension String {
  /// Whether the string comes before another by UTF-16 code units: the order of Core Data's hashes.
  package func literallyPrecedes(_ other: String) -> Bool { utf16.lexicographicallyPrecedes(other.utf16) }
}
