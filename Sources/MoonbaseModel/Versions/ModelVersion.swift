public import MoonbasePlatform

/// The identity of a model version in a store: a hash for each entity, and two checksums over the hashes.
///
/// ```swift
/// let version = try model.resolved().version
/// version.hashes["Person"]     // 32 bytes, as the metadata of a store holds them
/// ```
public struct ModelVersion: Sendable, Hashable {
  /// 32 bytes for each entity: `NSStoreModelVersionHashes`.
  public let hashes: [String: Data]
  /// Entities for which Apple's hash algorithm is unknown (derived and composite attributes), and their subentities.
  /// Their hashes here change with the model but differ from Apple's.
  public let unprovenEntities: Set<String>

  /// A version of known hashes.
  package init(hashes: [String: Data], unprovenEntities: Set<String> = []) {
    self.hashes = hashes
    self.unprovenEntities = unprovenEntities
  }

  /// `NSStoreModelVersionHashesDigest`: SHA-512 over names and hashes, in base64.
  public var digest: String {
    SHA2.sha512(sorted.reduce(into: Data()) { $0 += Data($1.key.utf8) + $1.value }).base64EncodedString()
  }

  /// `NSStoreModelVersionChecksumKey`, also in a compiled model's `VersionInfo.plist`: SHA-256 over the hashes, in
  /// base64.
  public var checksum: String {
    SHA2.sha256(sorted.reduce(into: Data()) { $0 += $1.value }).base64EncodedString()
  }

  /// The hashes by name, in the order of Core Data.
  private var sorted: [(key: String, value: Data)] { hashes.sorted { $0.key.literallyPrecedes($1.key) } }
}

extension String {
  /// Whether the string precedes another by UTF-16 code units, the order in Core Data's hashes.
  package func literallyPrecedes(_ other: String) -> Bool { utf16.lexicographicallyPrecedes(other.utf16) }
}

extension ModelVersion {
  /// Whether a store with these hashes opens without migration.
  ///
  /// For an entity whose hash algorithm is unknown, the store's own copy of the model decides; pass the version of that
  /// copy as `cached`. Without it such an entity counts as different, unless Moonbase wrote its hash.
  public func isCompatible(withStored hashes: [String: Data], cached: ModelVersion? = nil) -> Bool {
    guard hashes.count == self.hashes.count else { return false }
    return self.hashes.allSatisfy { entity, hash in
      guard let stored = hashes[entity] else { return false }
      return stored == hash || (unprovenEntities.contains(entity) && cached?.hashes[entity] == hash)
    }
  }
}
