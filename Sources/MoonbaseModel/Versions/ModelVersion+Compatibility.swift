public import MoonbasePlatform

extension ModelVersion {
  /// Whether a store with these hashes opens without migration.
  ///
  /// For an entity whose hash Apple computes by a rule that is not known, the store's own copy of the model decides: pass the
  /// version of that copy. Without one such an entity counts as different unless this house wrote its hash.
  public func isCompatible(withStored hashes: [String: Data], cached: ModelVersion? = nil) -> Bool {
    guard hashes.count == self.hashes.count else { return false }
    return self.hashes.allSatisfy { entity, hash in
      guard let stored = hashes[entity] else { return false }
      return stored == hash || (unprovenEntities.contains(entity) && cached?.hashes[entity] == hash)
    }
  }
}
